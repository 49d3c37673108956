import tilelang, tilelang.language as T
A=['sm_80','sm_90','sm_100a','gfx942','gfx950']
N=['sm_80','sm_90','sm_100a']
H='float16'; F='float32'
def reuse_plain(M=512,K=512,bm=64,bk=64,ns=2,th=128):
    """a versioned buffer that is no operand, used again behind the loop"""
    @T.prim_func
    def main(A: T.Tensor((M,K),H), C: T.Tensor((M,bk),H)):
        with T.Kernel(T.ceildiv(M,bm),threads=th) as bx:
            a=T.alloc_shared((bm,bk),H); s=T.alloc_fragment((bm,bk),F)
            T.clear(s)
            for k in T.Pipelined(T.ceildiv(K,bk),num_stages=ns):
                T.copy(A[bx*bm,k*bk],a)
                for i,j in T.Parallel(bm,bk): s[i,j]+=a[i,j]
            T.copy(s,a)
            T.copy(a,C[bx*bm,0])
    return main
def reuse_before(M=512,K=512,bm=64,bk=64,ns=2,th=128):
    """filled in front of the loop with something else"""
    @T.prim_func
    def main(A: T.Tensor((M,K),H), C: T.Tensor((M,bk),H)):
        with T.Kernel(T.ceildiv(M,bm),threads=th) as bx:
            a=T.alloc_shared((bm,bk),H); s=T.alloc_fragment((bm,bk),H)
            T.copy(C[bx*bm,0],a); T.copy(a,s)
            for k in T.Pipelined(T.ceildiv(K,bk),num_stages=ns):
                T.copy(A[bx*bm,k*bk],a)
                for i,j in T.Parallel(bm,bk): s[i,j]+=a[i,j]
            T.copy(s,C[bx*bm,0])
    return main
def two_loops(M=512,K=512,bm=64,bk=64,n1=2,n2=3,th=128,same=False,mid=True):
    @T.prim_func
    def main(A: T.Tensor((M,K),H), B: T.Tensor((K,64),H), C: T.Tensor((M,64),H)):
        with T.Kernel(T.ceildiv(M,bm),threads=th) as bx:
            a=T.alloc_shared((bm,bk),H); w=T.alloc_shared((bk,64),H); a2=T.alloc_shared((bm,bk),H); m=T.alloc_shared((bm,64),H)
            s=T.alloc_fragment((bm,64),F); s2=T.alloc_fragment((bm,64),F)
            T.clear(s); T.clear(s2)
            for k in T.Pipelined(T.ceildiv(K,bk),num_stages=n1):
                T.copy(A[bx*bm,k*bk],a); T.copy(B[k*bk,0],w)
                T.gemm(a,w,s)
            if mid: T.copy(s,m)
            for k in T.Pipelined(T.ceildiv(K,bk),num_stages=n2):
                T.copy(A[bx*bm,k*bk],a if same else a2)
                for i,j in T.Parallel(bm,64): s2[i,j]+=(a if same else a2)[i,j]
                if mid:
                    for i,j in T.Parallel(bm,64): s2[i,j]+=m[i,j]
            for i,j in T.Parallel(bm,64): s2[i,j]+=s[i,j]
            T.copy(s2,C[bx*bm,0])
    return main
def nested_copy(M=512,N=512,K=512,bm=64,bn=64,bk=64,ns=2,th=128,where=0):
    @T.prim_func
    def main(A: T.Tensor((M,K),H), B: T.Tensor((K,N),H), C: T.Tensor((M,N),H)):
        with T.Kernel(T.ceildiv(N,bn),T.ceildiv(M,bm),threads=th) as (bx,by):
            a=T.alloc_shared((bm,bk),H); b=T.alloc_shared((bk,bn),H); x=T.alloc_shared((16,bn),H)
            c=T.alloc_fragment((bm,bn),F); y=T.alloc_fragment((16,bn),F)
            T.clear(c); T.clear(y)
            for k in T.Pipelined(T.ceildiv(K,bk),num_stages=ns):
                T.copy(A[by*bm,k*bk],a)
                T.copy(B[k*bk,bx*bn],b)
                if where==0:
                    for t in T.serial(4):
                        T.copy(B[k*bk+t*16,bx*bn],x)
                        for i,j in T.Parallel(16,bn): y[i,j]+=x[i,j]
                elif where==1:
                    for t in T.serial(4):
                        T.copy(B[k*bk+t*16,bx*bn],x)
                    for i,j in T.Parallel(16,bn): y[i,j]+=x[i,j]
                T.gemm(a,b,c)
                if where==2:
                    for t in T.serial(4):
                        for i,j in T.Parallel(16,bn): y[i,j]+=b[t*16+i,j]
                if where==3:
                    for t in T.serial(4):
                        for i,j in T.Parallel(16,bn): y[i,j]+=y[i,j]
            T.copy(c,C[by*bm,bx*bn])
            T.copy(y,C[0,0])
    return main
def branches(M=512,N=512,K=512,bm=64,bn=64,bk=64,ns=2,th=128,kind=0):
    @T.prim_func
    def main(A: T.Tensor((M,K),H), B: T.Tensor((K,N),H), mask: T.Tensor((8,),'int32'), C: T.Tensor((M,N),H)):
        with T.Kernel(T.ceildiv(N,bn),T.ceildiv(M,bm),threads=th) as (bx,by):
            a=T.alloc_shared((bm,bk),H); b=T.alloc_shared((bk,bn),H); o=T.alloc_shared((bm,bn),H); p=T.alloc_shared((bm,bn),H)
            c=T.alloc_fragment((bm,bn),F)
            T.clear(c)
            for k in T.Pipelined(T.ceildiv(K,bk),num_stages=ns):
                if kind==0:
                    if mask[k]>0:
                        T.copy(A[by*bm,k*bk],a); T.copy(B[k*bk,bx*bn],b)
                        T.gemm(a,b,c)
                elif kind==1:
                    T.copy(A[by*bm,k*bk],a)
                    if mask[k]>0: T.copy(B[k*bk,bx*bn],b)
                    else: T.copy(B[0,bx*bn],b)
                    T.gemm(a,b,c)
                elif kind==2:
                    T.copy(A[by*bm,k*bk],a); T.copy(B[k*bk,bx*bn],b)
                    if mask[k]>0: T.gemm(a,b,c)
                    else: T.gemm(b,a,c)
                elif kind==3:
                    if mask[k]>0: T.copy(A[by*bm,k*bk],a)
                    if mask[k]>1: T.copy(B[k*bk,bx*bn],b)
                    if mask[k]>2: T.gemm(a,b,c)
            if mask[0]>0:
                T.copy(c,o); T.copy(o,C[by*bm,bx*bn])
            if mask[1]>0:
                T.copy(c,p); T.copy(p,C[by*bm,bx*bn])
            else:
                T.copy(c,o); T.copy(o,C[by*bm,bx*bn])
    return main
def simt(M=512,N=512,K=512,bm=64,bn=64,bk=64,ns=2,th=128,kind=0):
    @T.prim_func
    def main(A: T.Tensor((M,K),H), A32: T.Tensor((M,K),F), B: T.Tensor((K,N),H), idx: T.Tensor((K,),'int32'), C: T.Tensor((M,N),H)):
        with T.Kernel(T.ceildiv(N,bn),T.ceildiv(M,bm),threads=th) as (bx,by):
            a=T.alloc_shared((bm,bk),H); b=T.alloc_shared((bk,bn),H); ix=T.alloc_shared((bk,),'int32'); a32=T.alloc_shared((bm,bk),F)
            c=T.alloc_fragment((bm,bn),F); ixf=T.alloc_fragment((bk,),'int32'); il=T.alloc_local((1,),'int32')
            T.clear(c)
            for k in T.Pipelined(T.ceildiv(K,bk),num_stages=ns):
                if kind==0:
                    for i,j in T.Parallel(bm,bk): a[i,j]=A[by*bm+i,k*bk+j]
                    T.copy(B[k*bk,bx*bn],b)
                elif kind==1:
                    for i,j in T.Parallel(bm,bk): a[i,j]=T.if_then_else(k*bk+j<K-3,A[by*bm+i,k*bk+j],T.float16(0))
                    T.copy(B[k*bk,bx*bn],b)
                elif kind==2:
                    T.copy(idx[k*bk],ix)
                    for i,j in T.Parallel(bk,bn): b[i,j]=B[ix[i],bx*bn+j]
                    T.copy(A[by*bm,k*bk],a)
                elif kind==3:
                    T.copy(A32[by*bm,k*bk],a)
                    T.copy(B[k*bk,bx*bn],b)
                elif kind==4:
                    T.copy(A32[by*bm,k*bk],a32)
                    T.copy(a32,a)
                    T.copy(B[k*bk,bx*bn],b)
                elif kind==5:
                    for i,j in T.Parallel(bm,bk): a[i,j]=A[by*bm+i,k*bk+j]*T.float16(2)
                    T.copy(B[k*bk,bx*bn],b)
                elif kind==6:
                    T.copy(idx[k*bk],ixf)
                    for i,j in T.Parallel(bk,bn): b[i,j]=B[ixf[i],bx*bn+j]
                    T.copy(A[by*bm,k*bk],a)
                elif kind==7:
                    T.async_copy(A[by*bm,k*bk],a)
                    T.copy(B[k*bk,bx*bn],b)
                elif kind==8:
                    T.fill(a,0)
                    T.copy(A[by*bm,k*bk],a)
                    T.copy(B[k*bk,bx*bn],b)
                T.gemm(a,b,c)
            T.copy(c,C[by*bm,bx*bn])
    return main
def prelude(M=512,N=512,K=512,bm=64,bn=64,bk=64,ns=2,th=128,kind=0):
    @T.prim_func
    def main(A: T.Tensor((M,K),H), B: T.Tensor((K,N),H), S: T.Tensor((N,),F), R: T.Tensor((bm,bk),H), C: T.Tensor((M,N),H)):
        with T.Kernel(T.ceildiv(N,bn),T.ceildiv(M,bm),threads=th) as (bx,by):
            a=T.alloc_shared((bm,bk),H); b=T.alloc_shared((bk,bn),H); s=T.alloc_shared((bn,),F); r=T.alloc_shared((bm,bk),H); z=T.alloc_shared((bm,bn),H); y=T.alloc_shared((bm,bn),H)
            c=T.alloc_fragment((bm,bn),F); sf=T.alloc_fragment((bn,),F); rf=T.alloc_fragment((bm,bk),H)
            T.clear(c)
            if kind==0:
                T.copy(S[bx*bn],s); T.copy(s,sf)
            elif kind==1:
                T.copy(R,r); T.copy(r,rf)
                T.copy(rf,z)
                T.copy(z,C[by*bm,bx*bn])
            elif kind==2:
                T.copy(R,r)
                T.copy(S[bx*bn],sf)
                for i,j in T.Parallel(bm,bn): z[i,j]=r[i,j]*T.float16(2)
                T.copy(z,y)
            elif kind==3:
                T.copy(A[by*bm,0],r); T.copy(r,rf); T.copy(S[bx*bn],s)
                for i,j in T.Parallel(bm,bn): c[i,j]=rf[i,j]
            for k in T.Pipelined(T.ceildiv(K,bk),num_stages=ns):
                T.copy(A[by*bm,k*bk],a); T.copy(B[k*bk,bx*bn],b)
                if kind==3: T.gemm(r,b,c)
                T.gemm(a,b,c)
                if kind==0:
                    for i,j in T.Parallel(bm,bn): c[i,j]+=sf[j]
                if kind==2:
                    for i,j in T.Parallel(bm,bn): c[i,j]+=y[i,j]
            if kind==3:
                for i,j in T.Parallel(bm,bn): c[i,j]+=s[j]
            if kind==2:
                for i,j in T.Parallel(bm,bn): c[i,j]+=sf[j]
            T.copy(c,z)
            T.copy(z,C[by*bm,bx*bn])
    return main
def persistent(M=1024,N=1024,K=512,bm=128,bn=128,bk=64,ns=2,th=128,tail=True,guard=True):
    @T.prim_func
    def main(A: T.Tensor((M,K),H), B: T.Tensor((K,N),H), C: T.Tensor((M,N),H)):
        with T.Kernel(108,threads=th) as (b0):
            a=T.alloc_shared((bm,bk),H); b=T.alloc_shared((bk,bn),H); o=T.alloc_shared((bm,bn),H); z=T.alloc_shared((bm,bn),H)
            c=T.alloc_fragment((bm,bn),F)
            for w in T.serial(3):
                t=w*108+b0
                if guard:
                    if t<64:
                        T.clear(c)
                        for k in T.Pipelined(T.ceildiv(K,bk),num_stages=ns):
                            T.copy(A[t//8*bm,k*bk],a); T.copy(B[k*bk,t%8*bn],b)
                            T.gemm(a,b,c)
                        T.copy(c,o); T.copy(o,C[t//8*bm,t%8*bn])
                else:
                    T.clear(c)
                    for k in T.Pipelined(T.ceildiv(K,bk),num_stages=ns):
                        T.copy(A[t//8*bm,k*bk],a); T.copy(B[k*bk,t%8*bn],b)
                        T.gemm(a,b,c)
                    T.copy(c,o); T.copy(o,C[t//8*bm,t%8*bn])
            if tail:
                T.copy(c,z); T.copy(z,C[0,0])
    return main
def in_if(M=512,N=512,K=512,bm=64,bn=64,bk=64,ns=2,th=128,kind=0):
    """the pipelined loop under an if, with others around it"""
    @T.prim_func
    def main(A: T.Tensor((M,K),H), B: T.Tensor((K,N),H), f: T.Tensor((8,),'int32'), C: T.Tensor((M,N),H)):
        with T.Kernel(T.ceildiv(N,bn),T.ceildiv(M,bm),threads=th) as (bx,by):
            a=T.alloc_shared((bm,bk),H); b=T.alloc_shared((bk,bn),H); o=T.alloc_shared((bm,bn),H); z=T.alloc_shared((bm,bn),H); a2=T.alloc_shared((bm,bk),H)
            c=T.alloc_fragment((bm,bn),F); g=T.alloc_fragment((bm,bn),F)
            T.clear(c); T.clear(g)
            T.copy(g,C[by*bm,bx*bn])
            T.copy(C[by*bm,bx*bn],z)
            if f[0]>0:
                T.copy(z,c)
                for k in T.Pipelined(T.ceildiv(K,bk),num_stages=ns):
                    T.copy(A[by*bm,k*bk],a); T.copy(B[k*bk,bx*bn],b)
                    T.gemm(a,b,c)
                T.copy(c,o); T.copy(o,C[by*bm,bx*bn])
            T.copy(c,z)
            if kind==1:
                for k in T.Pipelined(T.ceildiv(K,bk),num_stages=ns):
                    T.copy(A[by*bm,k*bk],a2)
                    for i,j in T.Parallel(bm,bk): g[i,j]+=a2[i,j]
                T.copy(g,o)
                T.copy(o,C[by*bm,bx*bn])
            T.copy(z,C[by*bm,bx*bn])
    return main
CASES=[('reuse_plain',{},A),('reuse_plain',dict(ns=1),A),('reuse_plain',dict(ns=0),A),('reuse_before',{},A),
 ('two_loops',{},A),('two_loops',dict(n1=1,n2=2),A),('two_loops',dict(n1=0,n2=2),A),('two_loops',dict(n1=2,n2=0),A),('two_loops',dict(same=True),A),('two_loops',dict(same=True,n1=1,n2=1),A),('two_loops',dict(same=True,n1=2,n2=2,mid=False),A),
]+[('nested_copy',dict(where=w),A) for w in (0,1,2,3)]+[('branches',dict(kind=k),A) for k in (0,1,2,3)]+[('simt',dict(kind=k),A) for k in range(9)]+[('prelude',dict(kind=k),A) for k in range(4)]+[
 ('persistent',{},A),('persistent',dict(guard=False),A),('persistent',dict(tail=False),N),('in_if',{},A),('in_if',dict(kind=1),A),('simt',dict(kind=0,th=256),N),('simt',dict(kind=3,th=256,bm=128),N)]
