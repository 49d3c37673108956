import tilelang, tilelang.language as T
A=['sm_80','sm_90','sm_100a','gfx942','gfx950']
N=['sm_80','sm_90','sm_100a']
def gemm(M=1024,N=1024,K=1024,bm=128,bn=128,bk=32,ns=3,th=128,dt=T.float16,acc=T.float32,tA=False,tB=False,stage_out=True,pol=None,clear=True):
    @T.prim_func
    def main(A: T.Tensor((K,M) if tA else (M,K),dt), B: T.Tensor((N,K) if tB else (K,N),dt), C: T.Tensor((M,N),dt)):
        with T.Kernel(T.ceildiv(N,bn),T.ceildiv(M,bm),threads=th) as (bx,by):
            a=T.alloc_shared((bk,bm) if tA else (bm,bk),dt)
            b=T.alloc_shared((bn,bk) if tB else (bk,bn),dt)
            c=T.alloc_fragment((bm,bn),acc)
            o=T.alloc_shared((bm,bn),dt)
            if clear: T.clear(c)
            for k in T.Pipelined(T.ceildiv(K,bk),num_stages=ns):
                if tA: T.copy(A[k*bk,by*bm],a)
                else: T.copy(A[by*bm,k*bk],a)
                if tB: T.copy(B[bx*bn,k*bk],b)
                else: T.copy(B[k*bk,bx*bn],b)
                T.gemm(a,b,c,transpose_A=tA,transpose_B=tB)
            if stage_out:
                T.copy(c,o); T.copy(o,C[by*bm,bx*bn])
            else: T.copy(c,C[by*bm,bx*bn])
    return main
def short(K=64,bk=32,ns=4): return gemm(K=K,bk=bk,ns=ns)
def reuse_in(M=512,N=512,K=512,bm=64,bn=64,bk=64,ns=2,th=128):
    """the first operand's buffer is used again behind the loop"""
    @T.prim_func
    def main(A: T.Tensor((M,K),T.float16), B: T.Tensor((K,N),T.float16), C: T.Tensor((M,N),T.float16)):
        with T.Kernel(T.ceildiv(N,bn),T.ceildiv(M,bm),threads=th) as (bx,by):
            a=T.alloc_shared((bm,bk),T.float16); b=T.alloc_shared((bk,bn),T.float16)
            c=T.alloc_fragment((bm,bn),T.float32)
            T.clear(c)
            for k in T.Pipelined(T.ceildiv(K,bk),num_stages=ns):
                T.copy(A[by*bm,k*bk],a); T.copy(B[k*bk,bx*bn],b)
                T.gemm(a,b,c)
            T.copy(c,a)
            T.copy(a,C[by*bm,bx*bn])
    return main
def scale_in_place(M=512,N=512,K=512,bm=64,bn=64,bk=64,ns=2,th=128):
    @T.prim_func
    def main(A: T.Tensor((M,K),T.float16), B: T.Tensor((K,N),T.float16), C: T.Tensor((M,N),T.float16)):
        with T.Kernel(T.ceildiv(N,bn),T.ceildiv(M,bm),threads=th) as (bx,by):
            a=T.alloc_shared((bm,bk),T.float16); b=T.alloc_shared((bk,bn),T.float16)
            c=T.alloc_fragment((bm,bn),T.float32)
            T.clear(c)
            for k in T.Pipelined(T.ceildiv(K,bk),num_stages=ns):
                T.copy(A[by*bm,k*bk],a); T.copy(B[k*bk,bx*bn],b)
                for i,j in T.Parallel(bm,bk): a[i,j]=a[i,j]*T.float16(2)
                T.gemm(a,b,c)
            T.copy(c,C[by*bm,bx*bn])
    return main
def fused_scale(M=512,N=512,K=512,bm=64,bn=64,bk=64,ns=2,th=128,extra=True):
    """dequantising: bytes are copied, converted through registers into another buffer"""
    @T.prim_func
    def main(A: T.Tensor((M,K),T.float16), Q: T.Tensor((K,N),T.int8), S: T.Tensor((N,),T.float16), C: T.Tensor((M,N),T.float16)):
        with T.Kernel(T.ceildiv(N,bn),T.ceildiv(M,bm),threads=th) as (bx,by):
            a=T.alloc_shared((bm,bk),T.float16); q=T.alloc_shared((bk,bn),T.int8); b=T.alloc_shared((bk,bn),T.float16)
            s=T.alloc_shared((bn,),T.float16)
            ql=T.alloc_fragment((bk,bn),T.int8); bl=T.alloc_fragment((bk,bn),T.float16)
            c=T.alloc_fragment((bm,bn),T.float32)
            T.clear(c)
            T.copy(S[bx*bn],s)
            for k in T.Pipelined(T.ceildiv(K,bk),num_stages=ns):
                T.copy(A[by*bm,k*bk],a); T.copy(Q[k*bk,bx*bn],q)
                T.copy(q,ql)
                for i,j in T.Parallel(bk,bn): bl[i,j]=ql[i,j]*s[j]
                T.copy(bl,b)
                T.gemm(a,b,c)
            T.copy(c,C[by*bm,bx*bn])
    return main
def attention(S=1024,D=64,H=4,bq=64,bk=64,ns=2,th=128,causal=False,dt=T.float16):
    scale=1.0
    @T.prim_func
    def main(Q: T.Tensor((H,S,D),dt), K: T.Tensor((H,S,D),dt), V: T.Tensor((H,S,D),dt), O: T.Tensor((H,S,D),dt)):
        with T.Kernel(T.ceildiv(S,bq),H,threads=th) as (bx,by):
            q=T.alloc_shared((bq,D),dt); k=T.alloc_shared((bk,D),dt); v=T.alloc_shared((bk,D),dt); o=T.alloc_shared((bq,D),dt)
            s=T.alloc_fragment((bq,bk),T.float32); p=T.alloc_fragment((bq,bk),dt); acc=T.alloc_fragment((bq,D),T.float32)
            m=T.alloc_fragment((bq,),T.float32); mp=T.alloc_fragment((bq,),T.float32); l=T.alloc_fragment((bq,),T.float32); ls=T.alloc_fragment((bq,),T.float32); sc=T.alloc_fragment((bq,),T.float32)
            T.copy(Q[by,bx*bq,0],q)
            T.fill(acc,0); T.fill(l,0); T.fill(m,-T.infinity(T.float32))
            for j in T.Pipelined(T.ceildiv((bx+1)*bq,bk) if causal else T.ceildiv(S,bk),num_stages=ns):
                T.copy(K[by,j*bk,0],k)
                T.clear(s)
                T.gemm(q,k,s,transpose_B=True,policy=T.GemmWarpPolicy.FullRow)
                T.copy(m,mp)
                T.reduce_max(s,m,dim=1,clear=False)
                for i in T.Parallel(bq): sc[i]=T.exp2(mp[i]-m[i])
                for i,jj in T.Parallel(bq,bk): s[i,jj]=T.exp2(s[i,jj]-m[i])
                T.reduce_sum(s,ls,dim=1)
                for i in T.Parallel(bq): l[i]=l[i]*sc[i]+ls[i]
                T.copy(s,p)
                for i,jj in T.Parallel(bq,D): acc[i,jj]*=sc[i]
                T.copy(V[by,j*bk,0],v)
                T.gemm(p,v,acc,policy=T.GemmWarpPolicy.FullRow)
            for i,jj in T.Parallel(bq,D): acc[i,jj]/=l[i]
            T.copy(acc,o)
            T.copy(o,O[by,bx*bq,0])
    return main
CASES=[('gemm',dict(ns=n),A) for n in (0,1,2,4)]+[
 ('short',dict(K=64),A),('short',dict(K=32),A),('short',dict(K=96),A),('short',dict(K=128,ns=2),A),('short',dict(K=160,ns=4),A),
 ('gemm',dict(bm=64,bn=256,bk=64,th=256),A),('gemm',dict(bm=256,bn=64,bk=64,th=256,tA=True),A),('gemm',dict(bm=16,bn=64,bk=64,th=64),A),('gemm',dict(bm=128,bn=128,bk=24,K=960),N),
 ('gemm',dict(bm=128,bn=128,bk=64,th=384),N),('gemm',dict(dt='int8',acc='int32',bk=64,tB=True),A),('gemm',dict(dt='float8_e4m3fn',bk=128,tB=True),['sm_90','sm_100a']),
 ('gemm',dict(M=1000,N=1000,K=1000),N),('gemm',dict(M=1000,N=1000,K=1000,bk=40),N),
 ('gemm',dict(dt='float32',bk=16,bm=64,bn=64),A),('gemm',dict(tB=True,bn=96,bk=64),N),('gemm',dict(bn=96,bk=64,N=960),N),
 ('reuse_in',{},A),('reuse_in',dict(ns=0),A),('scale_in_place',{},A),('scale_in_place',dict(ns=0),A),('fused_scale',{},A),('fused_scale',dict(ns=3,th=256),A),('fused_scale',dict(ns=1),N),
 ('attention',{},A),('attention',dict(ns=1),N),('attention',dict(ns=3,bq=128,bk=128,th=256),N),('attention',dict(causal=True),N),('attention',dict(D=128,bq=128,th=256,ns=2,dt='bfloat16'),A),
]
