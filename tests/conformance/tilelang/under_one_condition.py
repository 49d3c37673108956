import tilelang, tilelang.language as T
A=['sm_80','sm_90','sm_100a','gfx942','gfx950']
N=['sm_80','sm_90','sm_100a']
H='float16'; F='float32'
def tails(M=1024,N=1024,K=512,bm=64,bn=64,bk=64,ns=2,th=128,kind=0):
    @T.prim_func
    def main(A: T.Tensor((M,K),H), B: T.Tensor((K,N),H), C: T.Tensor((M,N),H)):
        with T.Kernel(108,threads=th) as (b0):
            a=T.alloc_shared((bm,bk),H); b=T.alloc_shared((bk,bn),H); x=T.alloc_shared((bm,bn),H); y=T.alloc_shared((bm,bn),F); z=T.alloc_shared((bm,bn),H)
            c=T.alloc_fragment((bm,bn),F); f=T.alloc_fragment((bm,bn),F)
            for w in T.serial(3):
                T.clear(c)
                for k in T.Pipelined(T.ceildiv(K,bk),num_stages=ns):
                    T.copy(A[w*bm,k*bk],a); T.copy(B[k*bk,b0*bn],b)
                    T.gemm(a,b,c)
            if kind==0:
                T.copy(c,x); T.copy(x,C[0,0]); T.copy(c,y); T.copy(y,C[0,64])
            elif kind==1:
                T.copy(C[0,0],x); T.copy(x,f); T.copy(f,C[0,0]); T.copy(C[64,0],z); T.copy(z,f); T.copy(f,C[0,64])
            elif kind==2:
                T.copy(c,x); T.copy(c,z); T.copy(x,C[0,0]); T.copy(z,C[0,64]); T.copy(C[64,0],y); T.copy(y,f); T.copy(f,C[64,64])
    return main
def early(M=512,N=512,K=512,bm=64,bn=64,bk=64,ns=2,th=128,kind=0):
    """several loads in front of the loop, and stores next to each other"""
    @T.prim_func
    def main(A: T.Tensor((M,K),H), B: T.Tensor((K,N),H), Q: T.Tensor((M,128),H), C: T.Tensor((M,N),H)):
        with T.Kernel(T.ceildiv(N,bn),T.ceildiv(M,bm),threads=th) as (bx,by):
            a=T.alloc_shared((bm,bk),H); q=T.alloc_shared((bm,64),H); p=T.alloc_shared((bm,128),H); w=T.alloc_shared((bm,32),H); x=T.alloc_shared((bm,bn),H); z=T.alloc_shared((bm,128),H)
            c=T.alloc_fragment((bm,bn),F); d=T.alloc_fragment((bm,128),F)
            if kind<2:
                T.copy(Q[by*bm,0],w)
            T.copy(Q[by*bm,0],q)
            if kind==1: T.clear(c)
            T.copy(Q[by*bm,0],p)
            if kind!=1: T.clear(c)
            T.clear(d)
            for k in T.Pipelined(T.ceildiv(K,bk),num_stages=ns):
                T.copy(A[by*bm,k*bk],a)
                T.gemm(q,a,c)
                T.gemm(a,p,d)
                if kind<2:
                    for i,j in T.Parallel(bm,32): c[i,j]+=w[i,j]
            T.copy(c,x)
            T.copy(d,z)
            T.copy(x,C[by*bm,bx*bn])
            T.copy(z,Q[by*bm,0])
            T.copy(c,w[0:bm,0:32]) if kind==9 else None
    return main
def bars(M=512,N=512,K=512,bm=128,bn=128,bk=64,ns=2,th=128):
    """an author's barrier in a loop that is only pipelined"""
    @T.prim_func
    def main(A: T.Tensor((M,K),H), A32: T.Tensor((M,K),F), B: T.Tensor((K,N),H), C: T.Tensor((M,N),H)):
        with T.Kernel(T.ceildiv(N,bn),T.ceildiv(M,bm),threads=th) as (bx,by):
            a=T.alloc_shared((bm,bk),H); b=T.alloc_shared((bn,bk),H); o=T.alloc_shared((bm,bn),H)
            acc=T.alloc_tmem((bm,bn),F); done=T.alloc_barrier(1); r=T.alloc_fragment((bm,bn),F)
            for k in T.Pipelined(T.ceildiv(K,bk),num_stages=ns):
                T.copy(A32[by*bm,k*bk],a); T.copy(A32[bx*bn,k*bk],b)
                T.tcgen05_gemm(a,b,acc,transpose_B=True,mbar=done,clear_accum=k==0)
                T.mbarrier_wait_parity(done,k%2)
            T.copy(acc,r); T.copy(r,o); T.copy(o,C[by*bm,bx*bn])
    return main
CASES=[('tails',dict(kind=k),N) for k in (0,1,2)]+[('early',dict(kind=k),N) for k in (0,1,2)]+[('bars',{},['sm_100a']),('bars',dict(ns=0),['sm_100a'])]
