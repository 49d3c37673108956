import tilelang, tilelang.language as T
A=['sm_80','sm_90','sm_100a','gfx942','gfx950']
N=['sm_80','sm_90','sm_100a']
S=['sm_90','sm_100a']
H='float16'; F='float32'
def vec(M=512,N=1024,K=512,bm=64,bn=128,bk=64,ns=2,th=128,kind=0,dt=F,sh=0):
    @T.prim_func
    def main(A: T.Tensor((M,K),H), B: T.Tensor((K,N),H), V: T.Tensor((N,),dt), W: T.Tensor((4,N),dt), R: T.Tensor((M,bn),H), C: T.Tensor((M,N),H)):
        with T.Kernel(T.ceildiv(N,bn),T.ceildiv(M,bm),threads=th) as (bx,by):
            a=T.alloc_shared((bm,bk),H); b=T.alloc_shared((bk,bn),H); v=T.alloc_shared((bn,),dt); r=T.alloc_shared((bm,bn),H); o=T.alloc_shared((bm,bn),H)
            c=T.alloc_fragment((bm,bn),F)
            T.clear(c)
            if kind==0: T.copy(V[bx*bn],v)
            if kind==1: T.copy(R[by*bm,0],r)
            if kind==2: T.copy(W[by%4,bx*bn],v)
            if kind==5: T.copy(V[bx*bn+sh],v)
            for k in T.Pipelined(T.ceildiv(K,bk),num_stages=ns):
                if kind==3: T.copy(R[k*bm,0],r)
                T.copy(A[by*bm,k*bk],a); T.copy(B[k*bk,bx*bn],b)
                T.gemm(a,b,c)
                if kind in (0,2,5):
                    for i,j in T.Parallel(bm,bn): c[i,j]+=v[j]
                if kind in (1,3):
                    for i,j in T.Parallel(bm,bn): c[i,j]+=r[i,j]
            if kind==4:
                for j in T.Parallel(bn): v[j]=V[j]*2
                T.copy(v,V[bx*bn])
            if kind in (6,):
                T.copy(c,r); T.copy(r,R[by*bm,0])
            T.copy(c,o); T.copy(o,C[by*bm,bx*bn])
    return main
def halves(M=512,N=512,K=512,bm=64,bn=64,bk=64,ns=2,th=128,kind=0):
    @T.prim_func
    def main(A: T.Tensor((M,K),H), B: T.Tensor((K,N),H), C: T.Tensor((M,N),H)):
        with T.Kernel(T.ceildiv(N,bn),T.ceildiv(M,bm),threads=th) as (bx,by):
            a=T.alloc_shared((bm,bk),H); b=T.alloc_shared((bk,bn),H); s=T.alloc_shared((2,bm,bk),H)
            c=T.alloc_fragment((bm,bn),F)
            T.clear(c)
            for k in T.Pipelined(T.ceildiv(K,bk),num_stages=ns):
                if kind==0:
                    T.copy(A[by*bm,k*bk],a[0:bm//2,:]); T.copy(A[by*bm+bm//2,k*bk],a[bm//2:bm,:])
                    T.copy(B[k*bk,bx*bn],b)
                    T.gemm(a,b,c)
                elif kind==1:
                    T.copy(A[by*bm,k*bk],s[0,:,:]); T.copy(A[by*bm,k*bk],s[1,:,:])
                    T.copy(B[k*bk,bx*bn],b)
                    T.gemm(s[0,:,:],b,c); T.gemm(s[1,:,:],b,c)
            T.copy(c,C[by*bm,bx*bn])
    return main
def written(M=512,N=512,K=512,bm=64,bn=64,bk=64,th=128,order=[0,1,2],stage=[0,0,1]):
    @T.prim_func
    def main(A: T.Tensor((M,K),H), B: T.Tensor((K,N),H), C: T.Tensor((M,N),H)):
        with T.Kernel(T.ceildiv(N,bn),T.ceildiv(M,bm),threads=th) as (bx,by):
            a=T.alloc_shared((bm,bk),H); b=T.alloc_shared((bk,bn),H)
            c=T.alloc_fragment((bm,bn),F)
            T.clear(c)
            for k in T.Pipelined(T.ceildiv(K,bk),order=order,stage=stage):
                T.copy(A[by*bm,k*bk],a)
                T.copy(B[k*bk,bx*bn],b)
                T.gemm(a,b,c)
            T.copy(c,C[by*bm,bx*bn])
    return main
def persist(M=1024,N=1024,K=512,bm=128,bn=128,bk=64,ns=2,th=256,vec=False):
    @T.prim_func
    def main(A: T.Tensor((M,K),H), B: T.Tensor((K,N),H), V: T.Tensor((N,),F), C: T.Tensor((M,N),H)):
        with T.Kernel(108,threads=th) as (b0):
            a=T.alloc_shared((bm,bk),H); b=T.alloc_shared((bk,bn),H); o=T.alloc_shared((bm,bn),H); v=T.alloc_shared((bn,),F)
            c=T.alloc_fragment((bm,bn),F)
            for bx,by in T.Persistent([T.ceildiv(M,bm),T.ceildiv(N,bn)],108,b0):
                T.clear(c)
                if vec: T.copy(V[by*bn],v)
                for k in T.Pipelined(T.ceildiv(K,bk),num_stages=ns):
                    T.copy(A[bx*bm,k*bk],a); T.copy(B[k*bk,by*bn],b)
                    T.gemm(a,b,c)
                    if vec:
                        for i,j in T.Parallel(bm,bn): c[i,j]+=v[j]
                T.copy(c,o); T.copy(o,C[bx*bm,by*bn])
    return main
def swz(M=512,N=512,K=512,bm=64,bn=64,bk=64,ns=2,th=128,kind=0):
    @T.prim_func
    def main(A: T.Tensor((M,K),H), B: T.Tensor((K,N),H), C: T.Tensor((M,N),H)):
        with T.Kernel(T.ceildiv(N,bn),T.ceildiv(M,bm),threads=th) as (bx,by):
            a=T.alloc_shared((bm,bk),H); b=T.alloc_shared((bk,bn),H); o=T.alloc_shared((bm,bn),H)
            c=T.alloc_fragment((bm,bn),F)
            if kind==0: T.annotate_layout({o: tilelang.layout.make_swizzled_layout(o)})
            if kind==1: T.annotate_layout({a: tilelang.layout.make_swizzled_layout(a), b: tilelang.layout.make_swizzled_layout(b)})
            T.clear(c)
            for k in T.Pipelined(T.ceildiv(K,bk),num_stages=ns):
                T.copy(A[by*bm,k*bk],a)
                T.copy(B[k*bk,bx*bn],b)
                T.gemm(a,b,c)
            T.copy(c,o)
            T.copy(o,C[by*bm,bx*bn])
    return main
CASES=[('vec',dict(kind=k,N=n,M=m),S) for k in (0,1,2,3,4,6) for n,m in ((1024,512),(1000,500))]+[('vec',dict(kind=0,dt=H),S),('vec',dict(kind=0,bn=24,N=960),S),('vec',dict(kind=5,sh=8),S)]+[('halves',dict(kind=k),A) for k in (0,1)]+[
 ('written',{},A),('written',dict(order=[0,1,2],stage=[0,0,2]),A),('written',dict(order=[1,2,0],stage=[0,0,1]),A),('written',dict(order=[0,1,2],stage=[1,1,2]),A),('written',dict(order=[0,1,2],stage=[0,1,1]),A),
 ('persist',{},N),('persist',dict(vec=True),S),('swz',dict(kind=0),N),('swz',dict(kind=1),N),('swz',dict(kind=0,bn=32),S)]
