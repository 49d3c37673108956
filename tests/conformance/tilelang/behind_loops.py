import tilelang, tilelang.language as T
H='float16'; F='float32'
A=['sm_80','sm_90','sm_100a','gfx942','gfx950']
N=['sm_80','sm_90','sm_100a']
def then_loop(M=512,N=512,K=512,bm=64,bn=64,bk=64,ns=2,th=128,kind=0,bigk=64):
    """behind a pipelined loop: a loop with buffers of its own, a reduction, another product"""
    @T.prim_func
    def main(A: T.Tensor((M,K),H), B: T.Tensor((K,N),H), Y: T.Tensor((M,),F), C: T.Tensor((M,N),H)):
        with T.Kernel(T.ceildiv(N,bn),T.ceildiv(M,bm),threads=th) as (bx,by):
            a=T.alloc_shared((bm,bk),H); b=T.alloc_shared((bk,bn),H); x=T.alloc_shared((bm,bn),H); d=T.alloc_shared((bn,bn),H); y=T.alloc_shared((bm,bn),F)
            c=T.alloc_fragment((bm,bn),F); s=T.alloc_fragment((bm,bn),F); r=T.alloc_fragment((bm,),F); q=T.alloc_fragment((bm,bn),H)
            T.clear(c)
            for k in T.Pipelined(T.ceildiv(K,bk),num_stages=ns):
                T.copy(A[by*bm,k*bk],a); T.copy(B[k*bk,bx*bn],b)
                T.gemm(a,b,c)
            if kind==0:
                for t in T.serial(4):
                    T.copy(C[by*bm,t*bn],x)
                    for i,j in T.Parallel(bm,bn): c[i,j]+=x[i,j]
                T.copy(c,C[by*bm,bx*bn])
            elif kind==1:
                T.reduce_sum(c,r,dim=1)
                T.copy(r,Y[by*bm])
            elif kind==2:
                T.copy(c,q)
                T.copy(B[0,bx*bn],d)
                T.clear(s)
                T.gemm(q,d,s)
                T.copy(s,x)
                T.copy(x,C[by*bm,bx*bn])
            elif kind==3:
                for i,j in T.Parallel(bm,bn): s[i,j]=T.exp2(c[i,j])
                T.reduce_max(s,r,dim=1)
                T.copy(s,y)
                T.copy(y,C[by*bm,bx*bn]); T.copy(r,Y[by*bm])
            elif kind==4:
                for t in T.serial(4):
                    T.copy(C[by*bm,t*bn],x)
                for i,j in T.Parallel(bm,bn): c[i,j]+=x[i,j]
                T.copy(c,C[by*bm,bx*bn])
            elif kind==5:
                for t in T.serial(4):
                    T.copy(C[by*bm,t*bn],x)
                    T.copy(x,q)
                    T.gemm(q,b if ns==0 else d,c)
                T.copy(c,C[by*bm,bx*bn])
    return main
def once(M=64,N=64,K=64,th=128,kind=0):
    """one tile, no loop over it"""
    @T.prim_func
    def main(A: T.Tensor((1024,K),H), B: T.Tensor((K,N),H), Y: T.Tensor((1024,),F), C: T.Tensor((1024,N),H)):
        with T.Kernel(1024//M,threads=th) as bx:
            a=T.alloc_shared((M,K),H); b=T.alloc_shared((K,N),H); x=T.alloc_shared((M,N),H); y=T.alloc_shared((M,N),H)
            c=T.alloc_fragment((M,N),F); r=T.alloc_fragment((M,),F)
            T.clear(c)
            T.copy(A[bx*M,0],a); T.copy(B,b)
            T.gemm(a,b,c)
            for t in T.serial(3):
                if kind==0:
                    T.copy(C[bx*M,t],x)
                    for i,j in T.Parallel(M,N): c[i,j]+=x[i,j]
                elif kind==1:
                    for i,j in T.Parallel(M,N): x[i,j]=C[bx*M+i,t]
                elif kind==2:
                    T.copy(C[bx*M,t],x)
                    T.copy(x,y)
                elif kind==3:
                    T.gemm(x,y,c)
                elif kind==4:
                    T.reduce_sum(c,r,dim=1)
                elif kind==5:
                    if t>1:
                        T.copy(C[bx*M,t],x)
            if kind==1 or kind==5:
                for i,j in T.Parallel(M,N): c[i,j]+=x[i,j]
            if kind==2:
                for i,j in T.Parallel(M,N): c[i,j]+=y[i,j]
            if kind==4: T.copy(r,Y[bx*M])
            T.copy(c,C[bx*M,0])
    return main
CASES=[('then_loop',dict(kind=k,ns=n),A) for k in range(6) for n in (2,0)]+[('once',dict(kind=k),A) for k in range(6)]+[('once',dict(kind=k,K=16),N) for k in (0,1)]
