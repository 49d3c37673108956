import tilelang, tilelang.language as T
A=['sm_80','sm_90','sm_100a','gfx942','gfx950']
N=['sm_80','sm_90','sm_100a']
P=['sm_80','sm_90','gfx950']
H='float16'; F='float32'
def twice_plain(M=512,K=512,bm=64,bk=64,n1=2,n2=3,th=128,outside=0,second=True,reads_only=False,simt=False):
    """one buffer, no operand, in two pipelined loops and outside"""
    @T.prim_func
    def main(A: T.Tensor((M,K),H), A32: T.Tensor((M,K),F), C: T.Tensor((M,bk),H)):
        with T.Kernel(T.ceildiv(M,bm),threads=th) as bx:
            a=T.alloc_shared((bm,bk),H); s=T.alloc_fragment((bm,bk),F); z=T.alloc_shared((bm,bk),F)
            T.clear(s)
            if outside==1:
                T.copy(A32[bx*bm,0],a); 
                for i,j in T.Parallel(bm,bk): s[i,j]+=a[i,j]
            for k in T.Pipelined(T.ceildiv(K,bk),num_stages=n1):
                if simt: T.copy(A32[bx*bm,k*bk],a)
                else: T.copy(A[bx*bm,k*bk],a)
                for i,j in T.Parallel(bm,bk): s[i,j]+=a[i,j]
            if outside==2:
                for i,j in T.Parallel(bm,bk): s[i,j]+=a[i,j]
            if second:
                for k in T.Pipelined(T.ceildiv(K,bk),num_stages=n2):
                    if reads_only: T.copy(A32[bx*bm,k*bk],z)
                    elif simt: T.copy(A32[bx*bm,k*bk],a)
                    else: T.copy(A[bx*bm,k*bk],a)
                    if reads_only:
                        for i,j in T.Parallel(bm,bk): s[i,j]+=a[i,j]+z[i,j]
                    else:
                        for i,j in T.Parallel(bm,bk): s[i,j]+=a[i,j]
            T.copy(s,C[bx*bm,0])
    return main
def symk(bm=64,bn=64,bk=32,ns=3,th=128,att=False):
    K=T.dynamic('K')
    M=512;N=512
    @T.prim_func
    def main(A: T.Tensor((M,K),H), B: T.Tensor((K,N),H), D: T.Tensor((K,N),H), C: T.Tensor((M,N),H)):
        with T.Kernel(T.ceildiv(N,bn),T.ceildiv(M,bm),threads=th) as (bx,by):
            a=T.alloc_shared((bm,bk),H); b=T.alloc_shared((bk,bn),H); d=T.alloc_shared((bk,bn),H); o=T.alloc_shared((bm,bn),H)
            c=T.alloc_fragment((bm,bn),F)
            T.clear(c)
            for k in T.Pipelined(T.ceildiv(K,bk),num_stages=ns):
                T.copy(A[by*bm,k*bk],a); T.copy(B[k*bk,bx*bn],b)
                T.gemm(a,b,c)
                if att:
                    T.copy(D[k*bk,bx*bn],d)
                    T.gemm(a,d,c)
            T.copy(c,o)
            T.copy(o,C[by*bm,bx*bn])
    return main
def red(M=64,N=256,th=128,dt=F,dim=1,src=0,vec1=0,kind='sum',extra=False):
    """a fragment, loaded in several ways, reduced"""
    sh=(M,N)
    @T.prim_func
    def main(X: T.Tensor((1024,N),dt), Y: T.Tensor((1024,),F), Z: T.Tensor((1024,N),F)):
        with T.Kernel(1024//M,threads=th) as bx:
            x=T.alloc_fragment((M,N),dt); xs=T.alloc_shared((M,N),dt); f=T.alloc_fragment((M,N),F)
            r=T.alloc_fragment((M if dim==1 else N,),F if src in(2,3) else dt)
            if src==0:
                T.copy(X[bx*M,0],x)
                T.reduce_sum(x,r,dim=dim) if kind=='sum' else T.reduce_max(x,r,dim=dim)
            elif src==1:
                T.copy(X[bx*M,0],xs); T.copy(xs,x)
                T.reduce_sum(x,r,dim=dim) if kind=='sum' else T.reduce_max(x,r,dim=dim)
            elif src==2:
                T.copy(X[bx*M,0],f)
                T.reduce_sum(f,r,dim=dim)
            elif src==3:
                for i,j in T.Parallel(M,N): f[i,j]=X[bx*M+i,j]*2
                T.reduce_sum(f,r,dim=dim)
            if extra: T.copy(f,Z[bx*M,0])
            T.copy(r,Y[0])
    return main
def red1(N=256,th=128,dt=F):
    @T.prim_func
    def main(X: T.Tensor((1024,N),dt), Y: T.Tensor((1024,),F)):
        with T.Kernel(1024,threads=th) as bx:
            x=T.alloc_fragment((N,),dt); r=T.alloc_fragment((1,),dt)
            T.copy(X[bx,0:N],x)
            T.reduce_sum(x,r,dim=0)
            Y[bx]=r[0]
    return main
def accred(M=64,N=64,K=64,th=128,pol=0,dim=1,twice=False):
    @T.prim_func
    def main(A: T.Tensor((1024,K),H), B: T.Tensor((K,N),H), Y: T.Tensor((1024,),F)):
        with T.Kernel(1024//M,threads=th) as bx:
            a=T.alloc_shared((M,K),H); b=T.alloc_shared((K,N),H); c=T.alloc_fragment((M,N),F); r=T.alloc_fragment((M if dim==1 else N,),F); e=T.alloc_fragment((M,N),F)
            T.clear(c)
            T.copy(A[bx*M,0],a); T.copy(B,b)
            T.gemm(a,b,c,policy=[T.GemmWarpPolicy.Square,T.GemmWarpPolicy.FullRow,T.GemmWarpPolicy.FullCol][pol])
            T.reduce_sum(c,r,dim=dim)
            if twice:
                for i,j in T.Parallel(M,N): e[i,j]=T.exp2(c[i,j])
                T.reduce_max(e,r,dim=dim,clear=False)
            T.copy(r,Y[bx*M] if dim==1 else Y[0])
    return main
CASES=[('twice_plain',dict(n1=a,n2=b),P) for a,b in((2,3),(3,2),(2,2),(2,0),(0,2),(1,2))]+[('twice_plain',dict(simt=True,n1=a,n2=b),P) for a,b in((2,3),(3,2),(2,2))]+[
 ('twice_plain',dict(second=False,outside=1),P),('twice_plain',dict(second=False,outside=2),P),('twice_plain',dict(second=False,outside=1,simt=True),P),('twice_plain',dict(second=False,outside=2,simt=True),P),('twice_plain',dict(reads_only=True,n2=2),P),
 ('symk',{},N),('symk',dict(att=True),N),('symk',dict(att=True,ns=1),N),('symk',dict(ns=1),N),('symk',dict(ns=0),N)]
R=['sm_80','sm_90','gfx942']
for M,N in ((64,64),(64,128),(64,256),(32,512),(8,1024),(4,2048),(128,32),(64,96),(1,1024),(128,16)):
    for dt in (F,H):
        CASES.append(('red',dict(M=M,N=N,dt=dt),R)); CASES.append(('red',dict(M=M,N=N,dt=dt,dim=0,src=1),R))
for src in (1,2,3):
    for M,N in ((64,256),(16,512)): CASES+= [('red',dict(M=M,N=N,dt=H,src=src),R),('red',dict(M=M,N=N,dt=H,src=src,dim=0),R)]
CASES+=[('red',dict(th=th,M=32,N=512,dt=dt),R) for th in (64,256,384) for dt in (F,H)]
CASES+=[('red1',dict(N=n,th=t,dt=d),R) for n,t,d in ((16,128,F),(64,128,F),(128,128,F),(256,128,H),(1024,128,F),(256,256,F),(128,32,F),(100,128,F))]
CASES+=[('accred',dict(pol=p,M=M,N=N,th=th),R) for p in (0,1,2) for M,N,th in ((64,64,128),(128,64,128),(64,128,256),(32,128,128),(16,128,64))]
CASES+=[('accred',dict(dim=0,pol=p),R) for p in (0,1,2)]+[('accred',dict(twice=True,pol=p),R) for p in (0,1,2)]
