import tilelang, tilelang.language as T
H='float16'; F='float32'
CASES=[]
def k0():
    M=512;N=512;K=512;bm=64;bn=64;bk=64
    @T.prim_func
    def main(A: T.Tensor((M,K),H), B: T.Tensor((K,N),H), C: T.Tensor((M,N),H), V: T.Tensor((N,),F), X: T.Tensor((64,),'int32'), A32: T.Tensor((M,K),F), Y: T.Tensor((M,),F), Z: T.Tensor((M,N),F)):
        with T.Kernel(N//bn,M//bm,threads=256) as (bx,by):
            a0=T.alloc_shared((bm,bk),H)
            a1=T.alloc_shared((bm,bk),H)
            a2=T.alloc_shared((bm,bk),H)
            b0=T.alloc_shared((bk,bn),H)
            b1=T.alloc_shared((bk,bn),H)
            b2=T.alloc_shared((bk,bn),H)
            o0=T.alloc_shared((bm,bn),H)
            o1=T.alloc_shared((bm,bn),H)
            o2=T.alloc_shared((bm,bn),F)
            v0=T.alloc_shared((bn,),F); v1=T.alloc_shared((bn,),F)
            c0=T.alloc_fragment((bm,bn),F); c1=T.alloc_fragment((bm,bn),F); r0=T.alloc_fragment((bm,),F)
            T.clear(c0); T.clear(c1)
            T.copy(A[by*bm,0*bk],a2)
            for k0 in T.Pipelined(8,num_stages=3):
                if X[6]>0:
                    T.clear(c1)
                for k1 in T.serial(8):
                    T.copy(A[by*bm,k1*bk],a0)
                    T.copy(B[k1*bk,bx*bn],b1)
                    T.gemm(a0,b1,c1)
                    T.fill(o1,0)
                if by>2:
                    T.copy(A[by*bm,k0*bk],a0)
                    T.fill(o1,0)
            T.copy(V[bx*bn],v0)
            T.copy(c0,o0)
            for k2 in T.serial(3):
                T.copy(V[bx*bn],v0)
                T.copy(B[k2*bk,bx*bn],b2)
                T.copy(V[bx*bn],v1)
            if X[6]>0:
                T.copy(c0,o1)
                T.copy(o1,C[by*bm,bx*bn])
                T.copy(A[by*bm,0*bk],a1)
            T.copy(c0,C[by*bm,bx*bn])
            T.copy(c1,Z[by*bm,bx*bn])
    return main
CASES.append(('k0',{},['sm_80', 'gfx942']))
def k1():
    M=512;N=512;K=512;bm=64;bn=64;bk=32
    @T.prim_func
    def main(A: T.Tensor((M,K),H), B: T.Tensor((K,N),H), C: T.Tensor((M,N),H), V: T.Tensor((N,),F), X: T.Tensor((64,),'int32'), A32: T.Tensor((M,K),F), Y: T.Tensor((M,),F), Z: T.Tensor((M,N),F)):
        with T.Kernel(N//bn,M//bm,threads=128) as (bx,by):
            a0=T.alloc_shared((bm,bk),H)
            a1=T.alloc_shared((bm,bk),H)
            a2=T.alloc_shared((bm,bk),H)
            b0=T.alloc_shared((bk,bn),H)
            b1=T.alloc_shared((bk,bn),H)
            b2=T.alloc_shared((bk,bn),H)
            o0=T.alloc_shared((bm,bn),H)
            o1=T.alloc_shared((bm,bn),H)
            o2=T.alloc_shared((bm,bn),F)
            v0=T.alloc_shared((bn,),F); v1=T.alloc_shared((bn,),F)
            c0=T.alloc_fragment((bm,bn),F); c1=T.alloc_fragment((bm,bn),F); r0=T.alloc_fragment((bm,),F)
            T.clear(c0); T.clear(c1)
            for k0 in T.Pipelined(8,num_stages=0):
                if by>1:
                    T.clear(c1)
                    T.copy(B[k0*bk,bx*bn],b1)
                T.copy(C[by*bm,bx*bn],o0)
                T.fill(o1,0)
            for k1 in T.Pipelined(3,num_stages=2):
                T.copy(A[by*bm,k1*bk],a1)
                T.copy(B[k1*bk,bx*bn],b2)
                T.gemm(a1,b2,c0)
            for i,j in T.Parallel(bm,bn): c1[i,j]+=o0[i,j]
            for k2 in T.Pipelined(8,num_stages=2):
                T.gemm(a1,b1,c1)
                if by>0:
                    T.gemm(a1,b2,c0)
                else:
                    T.clear(c1)
                for i,j in T.Parallel(bm,bk): a0[i,j]=A[by*bm+i,k2*bk+j]*T.float16(2)
            for k3 in T.serial(3):
                T.copy(A[by*bm,k3*bk],a0)
                T.copy(B[k3*bk,bx*bn],b2)
                T.gemm(a0,b2,c0)
                if X[3]>0:
                    T.reduce_sum(c0,r0,dim=1)
                else:
                    T.copy(B[k3*bk,bx*bn],b2)
            T.copy(c0,C[by*bm,bx*bn])
            T.copy(c1,Z[by*bm,bx*bn])
    return main
CASES.append(('k1',{},['sm_80', 'sm_90']))
def k2():
    M=512;N=512;K=512;bm=64;bn=64;bk=32
    @T.prim_func
    def main(A: T.Tensor((M,K),H), B: T.Tensor((K,N),H), C: T.Tensor((M,N),H), V: T.Tensor((N,),F), X: T.Tensor((64,),'int32'), A32: T.Tensor((M,K),F), Y: T.Tensor((M,),F), Z: T.Tensor((M,N),F)):
        with T.Kernel(N//bn,M//bm,threads=128) as (bx,by):
            a0=T.alloc_shared((bm,bk),H)
            a1=T.alloc_shared((bm,bk),H)
            a2=T.alloc_shared((bm,bk),H)
            b0=T.alloc_shared((bk,bn),H)
            b1=T.alloc_shared((bk,bn),H)
            b2=T.alloc_shared((bk,bn),H)
            o0=T.alloc_shared((bm,bn),H)
            o1=T.alloc_shared((bm,bn),H)
            o2=T.alloc_shared((bm,bn),F)
            v0=T.alloc_shared((bn,),F); v1=T.alloc_shared((bn,),F)
            c0=T.alloc_fragment((bm,bn),F); c1=T.alloc_fragment((bm,bn),F); r0=T.alloc_fragment((bm,),F)
            T.clear(c0); T.clear(c1)
            T.copy(c1,o0)
            T.copy(o0,C[by*bm,bx*bn])
            for k0 in T.Pipelined(8,num_stages=4):
                for i,j in T.Parallel(bm,bn): c0[i,j]+=o0[i,j]
                T.copy(A[by*bm,k0*bk],a1)
                for k1 in T.unroll(3,explicit=True):
                    T.reduce_sum(c0,r0,dim=1)
                    T.copy(c1,o2)
                    T.copy(B[k1*bk,bx*bn],b0)
                    T.gemm(a1,b0,c0)
                for k2 in T.serial(8):
                    T.copy(A[by*bm,k2*bk],a1)
                    if by>0:
                        T.copy(c1,o0)
                        T.copy(o0,C[by*bm,bx*bn])
                        T.copy(A[by*bm,k2*bk],a1)
                    else:
                        T.clear(c1)
                    T.gemm(a1,b0,c0)
                    T.copy(o2,o0)
            T.copy(V[bx*bn],v1)
            T.copy(c0,o1)
            T.copy(o1,C[by*bm,bx*bn])
            T.copy(c1,Z[by*bm,bx*bn])
    return main
CASES.append(('k2',{},['sm_90', 'sm_100a']))
def k3():
    M=512;N=512;K=512;bm=32;bn=32;bk=32
    @T.prim_func
    def main(A: T.Tensor((M,K),H), B: T.Tensor((K,N),H), C: T.Tensor((M,N),H), V: T.Tensor((N,),F), X: T.Tensor((64,),'int32'), A32: T.Tensor((M,K),F), Y: T.Tensor((M,),F), Z: T.Tensor((M,N),F)):
        with T.Kernel(N//bn,M//bm,threads=128) as (bx,by):
            a0=T.alloc_shared((bm,bk),H)
            a1=T.alloc_shared((bm,bk),H)
            a2=T.alloc_shared((bm,bk),H)
            b0=T.alloc_shared((bk,bn),H)
            b1=T.alloc_shared((bk,bn),H)
            b2=T.alloc_shared((bk,bn),H)
            o0=T.alloc_shared((bm,bn),H)
            o1=T.alloc_shared((bm,bn),H)
            o2=T.alloc_shared((bm,bn),F)
            v0=T.alloc_shared((bn,),F); v1=T.alloc_shared((bn,),F)
            c0=T.alloc_fragment((bm,bn),F); c1=T.alloc_fragment((bm,bn),F); r0=T.alloc_fragment((bm,),F)
            T.clear(c0); T.clear(c1)
            for k0 in T.Pipelined(2,num_stages=4):
                for k1 in T.Pipelined(8,num_stages=3):
                    if X[k1]>0:
                        T.copy(A[by*bm,k1*bk],a1)
                        T.copy(B[k1*bk,bx*bn],b0)
                        T.gemm(a1,b0,c0)
                for k2 in T.serial(2):
                    if X[k2]>0:
                        T.copy(A[by*bm,k2*bk],a0)
                        T.copy(B[k2*bk,bx*bn],b1)
                        T.gemm(a0,b1,c1)
                        for i,j in T.Parallel(bm,bk): a2[i,j]=A[by*bm+i,k2*bk+j]
                        if X[6]>0:
                            T.fill(o1,0)
                        else:
                            T.reduce_sum(c0,r0,dim=1)
                            T.copy(r0,Y[by*bm])
                for k3 in T.Pipelined(8,num_stages=4):
                    T.copy(A[by*bm,k3*bk],a2)
            T.copy(c1,o0)
            T.copy(o0,C[by*bm,bx*bn])
            T.fill(o0,0)
            T.copy(c0,o1)
            T.copy(o1,C[by*bm,bx*bn])
            T.copy(c1,Z[by*bm,bx*bn])
    return main
CASES.append(('k3',{},['sm_80', 'sm_90']))
def k4():
    M=512;N=512;K=512;bm=128;bn=32;bk=16
    @T.prim_func
    def main(A: T.Tensor((M,K),H), B: T.Tensor((K,N),H), C: T.Tensor((M,N),H), V: T.Tensor((N,),F), X: T.Tensor((64,),'int32'), A32: T.Tensor((M,K),F), Y: T.Tensor((M,),F), Z: T.Tensor((M,N),F)):
        with T.Kernel(N//bn,M//bm,threads=256) as (bx,by):
            a0=T.alloc_shared((bm,bk),H)
            a1=T.alloc_shared((bm,bk),H)
            a2=T.alloc_shared((bm,bk),H)
            b0=T.alloc_shared((bk,bn),H)
            b1=T.alloc_shared((bk,bn),H)
            b2=T.alloc_shared((bk,bn),H)
            o0=T.alloc_shared((bm,bn),H)
            o1=T.alloc_shared((bm,bn),H)
            o2=T.alloc_shared((bm,bn),F)
            v0=T.alloc_shared((bn,),F); v1=T.alloc_shared((bn,),F)
            c0=T.alloc_fragment((bm,bn),F); c1=T.alloc_fragment((bm,bn),F); r0=T.alloc_fragment((bm,),F)
            T.clear(c0); T.clear(c1)
            for k0 in T.serial(3):
                T.copy(A32[by*bm,k0*bk],a0)
            for i,j in T.Parallel(bm,bk): a0[i,j]=A[by*bm+i,0*bk+j]*T.float16(2)
            T.copy(C[by*bm,bx*bn],o0)
            for k1 in T.Pipelined(2,num_stages=3):
                T.copy(V[bx*bn],v0)
                T.copy(A[by*bm,k1*bk],a1)
                T.copy(B[k1*bk,bx*bn],b2)
                T.gemm(a1,b2,c0)
            for i,j in T.Parallel(bm,bn): c0[i,j]+=o0[i,j]
            T.gemm(a1,b2,c0)
            for k2 in T.Pipelined(8,num_stages=4):
                T.copy(V[bx*bn],v1)
                if by>0:
                    T.copy(B[k2*bk,bx*bn],b0)
                    T.reduce_max(c1,r0,dim=1)
            T.copy(c0,o1)
            T.copy(o1,C[by*bm,bx*bn])
            T.copy(c1,Z[by*bm,bx*bn])
    return main
CASES.append(('k4',{},['sm_90', 'sm_100a']))
def k5():
    M=512;N=512;K=512;bm=64;bn=64;bk=64
    @T.prim_func
    def main(A: T.Tensor((M,K),H), B: T.Tensor((K,N),H), C: T.Tensor((M,N),H), V: T.Tensor((N,),F), X: T.Tensor((64,),'int32'), A32: T.Tensor((M,K),F), Y: T.Tensor((M,),F), Z: T.Tensor((M,N),F)):
        with T.Kernel(N//bn,M//bm,threads=256) as (bx,by):
            a0=T.alloc_shared((bm,bk),H)
            a1=T.alloc_shared((bm,bk),H)
            a2=T.alloc_shared((bm,bk),H)
            b0=T.alloc_shared((bk,bn),H)
            b1=T.alloc_shared((bk,bn),H)
            b2=T.alloc_shared((bk,bn),H)
            o0=T.alloc_shared((bm,bn),H)
            o1=T.alloc_shared((bm,bn),H)
            o2=T.alloc_shared((bm,bn),F)
            v0=T.alloc_shared((bn,),F); v1=T.alloc_shared((bn,),F)
            c0=T.alloc_fragment((bm,bn),F); c1=T.alloc_fragment((bm,bn),F); r0=T.alloc_fragment((bm,),F)
            T.clear(c0); T.clear(c1)
            for k0 in T.Pipelined(8,num_stages=1):
                T.copy(A[by*bm,k0*bk],a1)
                T.copy(B[k0*bk,bx*bn],b0)
                T.gemm(a1,b0,c0)
                T.copy(B[k0*bk,bx*bn],b1)
            T.copy(A32[by*bm,0*bk],a1)
            T.copy(c0,C[by*bm,bx*bn])
            T.copy(c1,Z[by*bm,bx*bn])
    return main
CASES.append(('k5',{},['sm_80', 'sm_90']))
def k6():
    M=512;N=512;K=512;bm=128;bn=64;bk=32
    @T.prim_func
    def main(A: T.Tensor((M,K),H), B: T.Tensor((K,N),H), C: T.Tensor((M,N),H), V: T.Tensor((N,),F), X: T.Tensor((64,),'int32'), A32: T.Tensor((M,K),F), Y: T.Tensor((M,),F), Z: T.Tensor((M,N),F)):
        with T.Kernel(N//bn,M//bm,threads=256) as (bx,by):
            a0=T.alloc_shared((bm,bk),H)
            a1=T.alloc_shared((bm,bk),H)
            a2=T.alloc_shared((bm,bk),H)
            b0=T.alloc_shared((bk,bn),H)
            b1=T.alloc_shared((bk,bn),H)
            b2=T.alloc_shared((bk,bn),H)
            o0=T.alloc_shared((bm,bn),H)
            o1=T.alloc_shared((bm,bn),H)
            o2=T.alloc_shared((bm,bn),F)
            v0=T.alloc_shared((bn,),F); v1=T.alloc_shared((bn,),F)
            c0=T.alloc_fragment((bm,bn),F); c1=T.alloc_fragment((bm,bn),F); r0=T.alloc_fragment((bm,),F)
            T.clear(c0); T.clear(c1)
            for k0 in T.serial(3):
                if X[5]>0:
                    T.copy(c0,o0)
                    T.copy(o0,C[by*bm,bx*bn])
                    if by>1:
                        T.fill(o0,0)
                for k1 in T.Pipelined(8,num_stages=2):
                    T.copy(A[by*bm,k1*bk],a1)
                    T.copy(B[k1*bk,bx*bn],b0)
                    T.gemm(a1,b0,c0)
                    if by>1:
                        T.gemm(a1,b0,c1)
                    else:
                        T.gemm(a1,b0,c1)
                    T.reduce_max(c1,r0,dim=1)
            T.copy(c0,o0)
            T.copy(o0,C[by*bm,bx*bn])
            T.copy(c0,o1)
            T.copy(o1,C[by*bm,bx*bn])
            T.copy(c1,Z[by*bm,bx*bn])
    return main
CASES.append(('k6',{},['sm_90', 'gfx950']))
def k7():
    M=512;N=512;K=512;bm=64;bn=64;bk=64
    @T.prim_func
    def main(A: T.Tensor((M,K),H), B: T.Tensor((K,N),H), C: T.Tensor((M,N),H), V: T.Tensor((N,),F), X: T.Tensor((64,),'int32'), A32: T.Tensor((M,K),F), Y: T.Tensor((M,),F), Z: T.Tensor((M,N),F)):
        with T.Kernel(N//bn,M//bm,threads=256) as (bx,by):
            a0=T.alloc_shared((bm,bk),H)
            a1=T.alloc_shared((bm,bk),H)
            a2=T.alloc_shared((bm,bk),H)
            b0=T.alloc_shared((bk,bn),H)
            b1=T.alloc_shared((bk,bn),H)
            b2=T.alloc_shared((bk,bn),H)
            o0=T.alloc_shared((bm,bn),H)
            o1=T.alloc_shared((bm,bn),H)
            o2=T.alloc_shared((bm,bn),F)
            v0=T.alloc_shared((bn,),F); v1=T.alloc_shared((bn,),F)
            c0=T.alloc_fragment((bm,bn),F); c1=T.alloc_fragment((bm,bn),F); r0=T.alloc_fragment((bm,),F)
            T.clear(c0); T.clear(c1)
            for k0 in T.Pipelined(3,num_stages=3):
                T.copy(A[by*bm,k0*bk],a2)
                T.copy(B[k0*bk,bx*bn],b0)
                T.gemm(a2,b0,c1)
                T.gemm(a2,b0,c0)
                T.copy(A[by*bm,k0*bk],a1)
            T.gemm(a2,b0,c1)
            T.copy(A[by*bm,0*bk],a1)
            for k1 in T.unroll(3,explicit=True):
                T.copy(A[by*bm,k1*bk],a0)
                T.copy(B[k1*bk,bx*bn],b2)
                T.copy(V[bx*bn],v0)
                T.gemm(a0,b2,c0)
            T.copy(B[0*bk,bx*bn],b2)
            T.copy(c0,C[by*bm,bx*bn])
            T.copy(c1,Z[by*bm,bx*bn])
    return main
CASES.append(('k7',{},['sm_80', 'gfx942']))
def k8():
    M=512;N=512;K=512;bm=64;bn=64;bk=32
    @T.prim_func
    def main(A: T.Tensor((M,K),H), B: T.Tensor((K,N),H), C: T.Tensor((M,N),H), V: T.Tensor((N,),F), X: T.Tensor((64,),'int32'), A32: T.Tensor((M,K),F), Y: T.Tensor((M,),F), Z: T.Tensor((M,N),F)):
        with T.Kernel(N//bn,M//bm,threads=128) as (bx,by):
            a0=T.alloc_shared((bm,bk),H)
            a1=T.alloc_shared((bm,bk),H)
            a2=T.alloc_shared((bm,bk),H)
            b0=T.alloc_shared((bk,bn),H)
            b1=T.alloc_shared((bk,bn),H)
            b2=T.alloc_shared((bk,bn),H)
            o0=T.alloc_shared((bm,bn),H)
            o1=T.alloc_shared((bm,bn),H)
            o2=T.alloc_shared((bm,bn),F)
            v0=T.alloc_shared((bn,),F); v1=T.alloc_shared((bn,),F)
            c0=T.alloc_fragment((bm,bn),F); c1=T.alloc_fragment((bm,bn),F); r0=T.alloc_fragment((bm,),F)
            T.clear(c0); T.clear(c1)
            for k0 in T.serial(8):
                T.copy(V[bx*bn],v1)
                T.copy(C[by*bm,bx*bn],o1)
                T.copy(c0,o1)
                T.copy(A32[by*bm,k0*bk],a0)
            T.copy(B[0*bk,bx*bn],b2)
            T.copy(B[0*bk,bx*bn],b0)
            T.copy(c0,C[by*bm,bx*bn])
            T.copy(c1,Z[by*bm,bx*bn])
    return main
CASES.append(('k8',{},['sm_80', 'sm_90']))
def k9():
    M=512;N=512;K=512;bm=32;bn=128;bk=16
    @T.prim_func
    def main(A: T.Tensor((M,K),H), B: T.Tensor((K,N),H), C: T.Tensor((M,N),H), V: T.Tensor((N,),F), X: T.Tensor((64,),'int32'), A32: T.Tensor((M,K),F), Y: T.Tensor((M,),F), Z: T.Tensor((M,N),F)):
        with T.Kernel(N//bn,M//bm,threads=256) as (bx,by):
            a0=T.alloc_shared((bm,bk),H)
            a1=T.alloc_shared((bm,bk),H)
            a2=T.alloc_shared((bm,bk),H)
            b0=T.alloc_shared((bk,bn),H)
            b1=T.alloc_shared((bk,bn),H)
            b2=T.alloc_shared((bk,bn),H)
            o0=T.alloc_shared((bm,bn),H)
            o1=T.alloc_shared((bm,bn),H)
            o2=T.alloc_shared((bm,bn),F)
            v0=T.alloc_shared((bn,),F); v1=T.alloc_shared((bn,),F)
            c0=T.alloc_fragment((bm,bn),F); c1=T.alloc_fragment((bm,bn),F); r0=T.alloc_fragment((bm,),F)
            T.clear(c0); T.clear(c1)
            T.copy(B[0*bk,bx*bn],b0)
            for k0 in T.serial(8):
                T.copy(B[k0*bk,bx*bn],b2)
            for k1 in T.Pipelined(2,num_stages=2):
                T.copy(A[by*bm,k1*bk],a1)
                T.copy(B[k1*bk,bx*bn],b2)
                T.gemm(a1,b2,c0)
            T.fill(o0,0)
            T.copy(o0,o1)
            T.copy(c0,C[by*bm,bx*bn])
            T.copy(c1,Z[by*bm,bx*bn])
    return main
CASES.append(('k9',{},['sm_80', 'sm_90']))
def k10():
    M=512;N=512;K=512;bm=128;bn=64;bk=16
    @T.prim_func
    def main(A: T.Tensor((M,K),H), B: T.Tensor((K,N),H), C: T.Tensor((M,N),H), V: T.Tensor((N,),F), X: T.Tensor((64,),'int32'), A32: T.Tensor((M,K),F), Y: T.Tensor((M,),F), Z: T.Tensor((M,N),F)):
        with T.Kernel(N//bn,M//bm,threads=128) as (bx,by):
            a0=T.alloc_shared((bm,bk),H)
            a1=T.alloc_shared((bm,bk),H)
            a2=T.alloc_shared((bm,bk),H)
            b0=T.alloc_shared((bk,bn),H)
            b1=T.alloc_shared((bk,bn),H)
            b2=T.alloc_shared((bk,bn),H)
            o0=T.alloc_shared((bm,bn),H)
            o1=T.alloc_shared((bm,bn),H)
            o2=T.alloc_shared((bm,bn),F)
            v0=T.alloc_shared((bn,),F); v1=T.alloc_shared((bn,),F)
            c0=T.alloc_fragment((bm,bn),F); c1=T.alloc_fragment((bm,bn),F); r0=T.alloc_fragment((bm,),F)
            T.clear(c0); T.clear(c1)
            for k0 in T.Pipelined(3,num_stages=2):
                T.copy(A[by*bm,k0*bk],a2)
                T.copy(B[k0*bk,bx*bn],b0)
                T.gemm(a2,b0,c0)
            for k1 in T.serial(8):
                T.copy(A[by*bm,k1*bk],a1)
                T.copy(B[k1*bk,bx*bn],b0)
                T.gemm(a1,b0,c0)
                T.gemm(a2,b0,c0)
            T.copy(B[0*bk,bx*bn],b1)
            for k2 in T.Pipelined(3,num_stages=1):
                if X[k2]>0:
                    T.copy(A[by*bm,k2*bk],a2)
                    T.copy(B[k2*bk,bx*bn],b1)
                    T.gemm(a2,b1,c1)
            if by>2:
                T.copy(A[by*bm,0*bk],a0)
                if by>1:
                    T.copy(B[0*bk,bx*bn],b1)
                    T.copy(B[0*bk,bx*bn],b0)
                else:
                    for i,j in T.Parallel(bm,bk): a1[i,j]=A[by*bm+i,0*bk+j]
            else:
                T.clear(c1)
            T.gemm(a1,b0,c1)
            T.copy(c0,o1)
            T.copy(o1,C[by*bm,bx*bn])
            T.copy(c1,Z[by*bm,bx*bn])
    return main
CASES.append(('k10',{},['sm_90', 'sm_100a']))
def k11():
    M=512;N=512;K=512;bm=64;bn=64;bk=16
    @T.prim_func
    def main(A: T.Tensor((M,K),H), B: T.Tensor((K,N),H), C: T.Tensor((M,N),H), V: T.Tensor((N,),F), X: T.Tensor((64,),'int32'), A32: T.Tensor((M,K),F), Y: T.Tensor((M,),F), Z: T.Tensor((M,N),F)):
        with T.Kernel(N//bn,M//bm,threads=128) as (bx,by):
            a0=T.alloc_shared((bm,bk),H)
            a1=T.alloc_shared((bm,bk),H)
            a2=T.alloc_shared((bm,bk),H)
            b0=T.alloc_shared((bk,bn),H)
            b1=T.alloc_shared((bk,bn),H)
            b2=T.alloc_shared((bk,bn),H)
            o0=T.alloc_shared((bm,bn),H)
            o1=T.alloc_shared((bm,bn),H)
            o2=T.alloc_shared((bm,bn),F)
            v0=T.alloc_shared((bn,),F); v1=T.alloc_shared((bn,),F)
            c0=T.alloc_fragment((bm,bn),F); c1=T.alloc_fragment((bm,bn),F); r0=T.alloc_fragment((bm,),F)
            T.clear(c0); T.clear(c1)
            T.copy(V[bx*bn],v0)
            for k0 in T.serial(2):
                if X[k0]>0:
                    T.copy(A[by*bm,k0*bk],a0)
                    T.copy(B[k0*bk,bx*bn],b1)
                    T.copy(V[bx*bn],v0)
                    T.gemm(a0,b1,c0)
                    for i,j in T.Parallel(bm,bn): c0[i,j]+=v0[j]
                    T.fill(o1,0)
            for k1 in T.Pipelined(8,num_stages=0):
                T.copy(A[by*bm,k1*bk],a2)
                T.copy(B[k1*bk,bx*bn],b1)
                T.gemm(a2,b1,c0)
            T.copy(C[by*bm,bx*bn],o1)
            T.gemm(a2,b1,c0)
            T.copy(c0,o1)
            T.copy(o1,C[by*bm,bx*bn])
            T.copy(c1,Z[by*bm,bx*bn])
    return main
CASES.append(('k11',{},['sm_80', 'gfx942']))
def k12():
    M=512;N=512;K=512;bm=64;bn=64;bk=32
    @T.prim_func
    def main(A: T.Tensor((M,K),H), B: T.Tensor((K,N),H), C: T.Tensor((M,N),H), V: T.Tensor((N,),F), X: T.Tensor((64,),'int32'), A32: T.Tensor((M,K),F), Y: T.Tensor((M,),F), Z: T.Tensor((M,N),F)):
        with T.Kernel(N//bn,M//bm,threads=256) as (bx,by):
            a0=T.alloc_shared((bm,bk),H)
            a1=T.alloc_shared((bm,bk),H)
            a2=T.alloc_shared((bm,bk),H)
            b0=T.alloc_shared((bk,bn),H)
            b1=T.alloc_shared((bk,bn),H)
            b2=T.alloc_shared((bk,bn),H)
            o0=T.alloc_shared((bm,bn),H)
            o1=T.alloc_shared((bm,bn),H)
            o2=T.alloc_shared((bm,bn),F)
            v0=T.alloc_shared((bn,),F); v1=T.alloc_shared((bn,),F)
            c0=T.alloc_fragment((bm,bn),F); c1=T.alloc_fragment((bm,bn),F); r0=T.alloc_fragment((bm,),F)
            T.clear(c0); T.clear(c1)
            T.copy(A[by*bm,0*bk],a0)
            for k0 in T.Pipelined(2,num_stages=2):
                T.copy(A[by*bm,k0*bk],a2)
                T.copy(B[k0*bk,bx*bn],b0)
                T.gemm(a2,b0,c0)
                T.gemm(a2,b0,c0)
            for k1 in T.Pipelined(4,num_stages=0):
                T.copy(A[by*bm,k1*bk],a2)
                T.copy(B[k1*bk,bx*bn],b0)
                T.gemm(a2,b0,c0)
            T.copy(c0,o1)
            T.copy(o1,C[by*bm,bx*bn])
            T.copy(c1,Z[by*bm,bx*bn])
    return main
CASES.append(('k12',{},['sm_80', 'sm_90']))
def k13():
    M=512;N=512;K=512;bm=32;bn=64;bk=64
    @T.prim_func
    def main(A: T.Tensor((M,K),H), B: T.Tensor((K,N),H), C: T.Tensor((M,N),H), V: T.Tensor((N,),F), X: T.Tensor((64,),'int32'), A32: T.Tensor((M,K),F), Y: T.Tensor((M,),F), Z: T.Tensor((M,N),F)):
        with T.Kernel(N//bn,M//bm,threads=128) as (bx,by):
            a0=T.alloc_shared((bm,bk),H)
            a1=T.alloc_shared((bm,bk),H)
            a2=T.alloc_shared((bm,bk),H)
            b0=T.alloc_shared((bk,bn),H)
            b1=T.alloc_shared((bk,bn),H)
            b2=T.alloc_shared((bk,bn),H)
            o0=T.alloc_shared((bm,bn),H)
            o1=T.alloc_shared((bm,bn),H)
            o2=T.alloc_shared((bm,bn),F)
            v0=T.alloc_shared((bn,),F); v1=T.alloc_shared((bn,),F)
            c0=T.alloc_fragment((bm,bn),F); c1=T.alloc_fragment((bm,bn),F); r0=T.alloc_fragment((bm,),F)
            T.clear(c0); T.clear(c1)
            for k0 in T.Pipelined(8,num_stages=4):
                T.copy(C[by*bm,bx*bn],o0)
                T.copy(V[bx*bn],v0)
                for k1 in T.serial(8):
                    if X[k1]>0:
                        T.copy(A[by*bm,k1*bk],a0)
                        T.copy(B[k1*bk,bx*bn],b0)
                        T.gemm(a0,b0,c0)
            T.copy(o0,o1)
            for k2 in T.serial(4):
                T.copy(A[by*bm,k2*bk],a2)
                T.copy(B[k2*bk,bx*bn],b1)
                T.gemm(a2,b1,c0)
                T.copy(B[k2*bk,bx*bn],b0)
                for i,j in T.Parallel(bm,bn): c0[i,j]+=v0[j]
            T.copy(c0,o1)
            T.copy(o1,C[by*bm,bx*bn])
            T.copy(c1,Z[by*bm,bx*bn])
    return main
CASES.append(('k13',{},['sm_80', 'sm_90']))
def k14():
    M=512;N=512;K=512;bm=64;bn=128;bk=16
    @T.prim_func
    def main(A: T.Tensor((M,K),H), B: T.Tensor((K,N),H), C: T.Tensor((M,N),H), V: T.Tensor((N,),F), X: T.Tensor((64,),'int32'), A32: T.Tensor((M,K),F), Y: T.Tensor((M,),F), Z: T.Tensor((M,N),F)):
        with T.Kernel(N//bn,M//bm,threads=256) as (bx,by):
            a0=T.alloc_shared((bm,bk),H)
            a1=T.alloc_shared((bm,bk),H)
            a2=T.alloc_shared((bm,bk),H)
            b0=T.alloc_shared((bk,bn),H)
            b1=T.alloc_shared((bk,bn),H)
            b2=T.alloc_shared((bk,bn),H)
            o0=T.alloc_shared((bm,bn),H)
            o1=T.alloc_shared((bm,bn),H)
            o2=T.alloc_shared((bm,bn),F)
            v0=T.alloc_shared((bn,),F); v1=T.alloc_shared((bn,),F)
            c0=T.alloc_fragment((bm,bn),F); c1=T.alloc_fragment((bm,bn),F); r0=T.alloc_fragment((bm,),F)
            T.clear(c0); T.clear(c1)
            for k0 in T.Pipelined(2,num_stages=2):
                T.copy(A[by*bm,k0*bk],a1)
                T.copy(B[k0*bk,bx*bn],b0)
                T.gemm(a1,b0,c0)
            T.copy(c0,C[by*bm,bx*bn])
            T.copy(c1,Z[by*bm,bx*bn])
    return main
CASES.append(('k14',{},['sm_90', 'gfx950']))
def k15():
    M=512;N=512;K=512;bm=128;bn=128;bk=64
    @T.prim_func
    def main(A: T.Tensor((M,K),H), B: T.Tensor((K,N),H), C: T.Tensor((M,N),H), V: T.Tensor((N,),F), X: T.Tensor((64,),'int32'), A32: T.Tensor((M,K),F), Y: T.Tensor((M,),F), Z: T.Tensor((M,N),F)):
        with T.Kernel(N//bn,M//bm,threads=128) as (bx,by):
            a0=T.alloc_shared((bm,bk),H)
            a1=T.alloc_shared((bm,bk),H)
            a2=T.alloc_shared((bm,bk),H)
            b0=T.alloc_shared((bk,bn),H)
            b1=T.alloc_shared((bk,bn),H)
            b2=T.alloc_shared((bk,bn),H)
            o0=T.alloc_shared((bm,bn),H)
            o1=T.alloc_shared((bm,bn),H)
            o2=T.alloc_shared((bm,bn),F)
            v0=T.alloc_shared((bn,),F); v1=T.alloc_shared((bn,),F)
            c0=T.alloc_fragment((bm,bn),F); c1=T.alloc_fragment((bm,bn),F); r0=T.alloc_fragment((bm,),F)
            T.clear(c0); T.clear(c1)
            T.fill(o1,0)
            T.copy(V[bx*bn],v0)
            for k0 in T.unroll(2,explicit=True):
                T.copy(A[by*bm,k0*bk],a0)
                T.copy(B[k0*bk,bx*bn],b0)
                T.gemm(a0,b0,c0)
            T.copy(c0,o1)
            T.copy(o1,C[by*bm,bx*bn])
            T.copy(c1,Z[by*bm,bx*bn])
    return main
CASES.append(('k15',{},['sm_80', 'sm_90']))
def k16():
    M=512;N=512;K=512;bm=64;bn=128;bk=64
    @T.prim_func
    def main(A: T.Tensor((M,K),H), B: T.Tensor((K,N),H), C: T.Tensor((M,N),H), V: T.Tensor((N,),F), X: T.Tensor((64,),'int32'), A32: T.Tensor((M,K),F), Y: T.Tensor((M,),F), Z: T.Tensor((M,N),F)):
        with T.Kernel(N//bn,M//bm,threads=128) as (bx,by):
            a0=T.alloc_shared((bm,bk),H)
            a1=T.alloc_shared((bm,bk),H)
            a2=T.alloc_shared((bm,bk),H)
            b0=T.alloc_shared((bk,bn),H)
            b1=T.alloc_shared((bk,bn),H)
            b2=T.alloc_shared((bk,bn),H)
            o0=T.alloc_shared((bm,bn),H)
            o1=T.alloc_shared((bm,bn),H)
            o2=T.alloc_shared((bm,bn),F)
            v0=T.alloc_shared((bn,),F); v1=T.alloc_shared((bn,),F)
            c0=T.alloc_fragment((bm,bn),F); c1=T.alloc_fragment((bm,bn),F); r0=T.alloc_fragment((bm,),F)
            T.clear(c0); T.clear(c1)
            T.copy(B[0*bk,bx*bn],b2)
            for k0 in T.Pipelined(8,num_stages=2):
                for k1 in T.Pipelined(4,num_stages=2):
                    T.copy(C[by*bm,bx*bn],o0)
                T.copy(o0,o1)
                for k2 in T.Pipelined(4,num_stages=4):
                    T.copy(C[by*bm,bx*bn],o0)
                    if by>1:
                        T.copy(B[k2*bk,bx*bn],b2)
                        for i,j in T.Parallel(bm,bk): a0[i,j]=A[by*bm+i,k2*bk+j]*T.float16(2)
                for k3 in T.Pipelined(2,num_stages=2):
                    T.copy(A[by*bm,k3*bk],a1)
                    T.copy(B[k3*bk,bx*bn],b0)
                    T.gemm(a1,b0,c0)
                    T.copy(B[k3*bk,bx*bn],b2)
                    for i,j in T.Parallel(bm,bn): c1[i,j]+=o1[i,j]
            T.copy(c0,o1)
            T.copy(o1,C[by*bm,bx*bn])
            T.copy(c1,Z[by*bm,bx*bn])
    return main
CASES.append(('k16',{},['sm_80', 'sm_90']))
def k17():
    M=512;N=512;K=512;bm=64;bn=64;bk=64
    @T.prim_func
    def main(A: T.Tensor((M,K),H), B: T.Tensor((K,N),H), C: T.Tensor((M,N),H), V: T.Tensor((N,),F), X: T.Tensor((64,),'int32'), A32: T.Tensor((M,K),F), Y: T.Tensor((M,),F), Z: T.Tensor((M,N),F)):
        with T.Kernel(N//bn,M//bm,threads=256) as (bx,by):
            a0=T.alloc_shared((bm,bk),H)
            a1=T.alloc_shared((bm,bk),H)
            a2=T.alloc_shared((bm,bk),H)
            b0=T.alloc_shared((bk,bn),H)
            b1=T.alloc_shared((bk,bn),H)
            b2=T.alloc_shared((bk,bn),H)
            o0=T.alloc_shared((bm,bn),H)
            o1=T.alloc_shared((bm,bn),H)
            o2=T.alloc_shared((bm,bn),F)
            v0=T.alloc_shared((bn,),F); v1=T.alloc_shared((bn,),F)
            c0=T.alloc_fragment((bm,bn),F); c1=T.alloc_fragment((bm,bn),F); r0=T.alloc_fragment((bm,),F)
            T.clear(c0); T.clear(c1)
            for k0 in T.Pipelined(2,num_stages=2):
                T.copy(c1,o2)
                T.copy(o2,Z[by*bm,bx*bn])
                T.copy(B[k0*bk,bx*bn],b1)
                if by>1:
                    T.copy(o2,o1)
                T.copy(C[by*bm,bx*bn],o0)
            T.copy(C[by*bm,bx*bn],o0)
            T.copy(o0,o1)
            T.copy(c0,C[by*bm,bx*bn])
            T.copy(c1,Z[by*bm,bx*bn])
    return main
CASES.append(('k17',{},['sm_90', 'gfx950']))
def k18():
    M=512;N=512;K=512;bm=64;bn=32;bk=64
    @T.prim_func
    def main(A: T.Tensor((M,K),H), B: T.Tensor((K,N),H), C: T.Tensor((M,N),H), V: T.Tensor((N,),F), X: T.Tensor((64,),'int32'), A32: T.Tensor((M,K),F), Y: T.Tensor((M,),F), Z: T.Tensor((M,N),F)):
        with T.Kernel(N//bn,M//bm,threads=256) as (bx,by):
            a0=T.alloc_shared((bm,bk),H)
            a1=T.alloc_shared((bm,bk),H)
            a2=T.alloc_shared((bm,bk),H)
            b0=T.alloc_shared((bk,bn),H)
            b1=T.alloc_shared((bk,bn),H)
            b2=T.alloc_shared((bk,bn),H)
            o0=T.alloc_shared((bm,bn),H)
            o1=T.alloc_shared((bm,bn),H)
            o2=T.alloc_shared((bm,bn),F)
            v0=T.alloc_shared((bn,),F); v1=T.alloc_shared((bn,),F)
            c0=T.alloc_fragment((bm,bn),F); c1=T.alloc_fragment((bm,bn),F); r0=T.alloc_fragment((bm,),F)
            T.clear(c0); T.clear(c1)
            for k0 in T.Pipelined(4,num_stages=0):
                T.copy(A[by*bm,k0*bk],a0)
                T.copy(V[bx*bn],v0)
                T.copy(B[k0*bk,bx*bn],b1)
                T.gemm(a0,b1,c0)
                T.copy(B[k0*bk,bx*bn],b2)
            T.gemm(a0,b1,c0)
            for k1 in T.Pipelined(8,num_stages=3):
                T.copy(A[by*bm,k1*bk],a0)
                T.copy(B[k1*bk,bx*bn],b1)
                T.gemm(a0,b1,c0)
                T.copy(B[k1*bk,bx*bn],b2)
                for k2 in T.Pipelined(2,num_stages=3):
                    T.reduce_sum(c0,r0,dim=1)
                    T.copy(r0,Y[by*bm])
            T.copy(C[by*bm,bx*bn],o0)
            T.copy(c0,o1)
            T.copy(o1,C[by*bm,bx*bn])
            T.copy(c1,Z[by*bm,bx*bn])
    return main
CASES.append(('k18',{},['sm_80', 'gfx942']))
def k19():
    M=512;N=512;K=512;bm=64;bn=64;bk=32
    @T.prim_func
    def main(A: T.Tensor((M,K),H), B: T.Tensor((K,N),H), C: T.Tensor((M,N),H), V: T.Tensor((N,),F), X: T.Tensor((64,),'int32'), A32: T.Tensor((M,K),F), Y: T.Tensor((M,),F), Z: T.Tensor((M,N),F)):
        with T.Kernel(N//bn,M//bm,threads=256) as (bx,by):
            a0=T.alloc_shared((bm,bk),H)
            a1=T.alloc_shared((bm,bk),H)
            a2=T.alloc_shared((bm,bk),H)
            b0=T.alloc_shared((bk,bn),H)
            b1=T.alloc_shared((bk,bn),H)
            b2=T.alloc_shared((bk,bn),H)
            o0=T.alloc_shared((bm,bn),H)
            o1=T.alloc_shared((bm,bn),H)
            o2=T.alloc_shared((bm,bn),F)
            v0=T.alloc_shared((bn,),F); v1=T.alloc_shared((bn,),F)
            c0=T.alloc_fragment((bm,bn),F); c1=T.alloc_fragment((bm,bn),F); r0=T.alloc_fragment((bm,),F)
            T.clear(c0); T.clear(c1)
            for k0 in T.unroll(3,explicit=True):
                T.copy(B[k0*bk,bx*bn],b2)
                if X[7]>0:
                    if X[3]>0:
                        T.clear(c1)
                        T.copy(B[k0*bk,bx*bn],b2)
                    if by>0:
                        T.copy(A[by*bm,k0*bk],a0)
                        T.copy(V[bx*bn],v0)
            for k1 in T.serial(8):
                T.copy(A[by*bm,k1*bk],a1)
                T.copy(B[k1*bk,bx*bn],b2)
                T.gemm(a1,b2,c0)
                T.copy(C[by*bm,bx*bn],o1)
                T.copy(C[by*bm,bx*bn],o1)
            for k2 in T.Pipelined(8,num_stages=2):
                T.copy(B[k2*bk,bx*bn],b0)
            for k3 in T.Pipelined(2,num_stages=2):
                for k4 in T.Pipelined(2,num_stages=4):
                    T.copy(A[by*bm,k4*bk],a2)
                    T.copy(B[k4*bk,bx*bn],b2)
                    T.gemm(a2,b2,c1)
                    if by>1:
                        for i,j in T.Parallel(bm,bn): c0[i,j]+=v0[j]
                T.gemm(a2,b2,c1)
            T.gemm(a1,b0,c0)
            T.copy(c0,C[by*bm,bx*bn])
            T.copy(c1,Z[by*bm,bx*bn])
    return main
CASES.append(('k19',{},['sm_80', 'sm_90']))
def k20():
    M=512;N=512;K=512;bm=64;bn=64;bk=64
    @T.prim_func
    def main(A: T.Tensor((M,K),H), B: T.Tensor((K,N),H), C: T.Tensor((M,N),H), V: T.Tensor((N,),F), X: T.Tensor((64,),'int32'), A32: T.Tensor((M,K),F), Y: T.Tensor((M,),F), Z: T.Tensor((M,N),F)):
        with T.Kernel(N//bn,M//bm,threads=128) as (bx,by):
            a0=T.alloc_shared((bm,bk),H)
            a1=T.alloc_shared((bm,bk),H)
            a2=T.alloc_shared((bm,bk),H)
            b0=T.alloc_shared((bk,bn),H)
            b1=T.alloc_shared((bk,bn),H)
            b2=T.alloc_shared((bk,bn),H)
            o0=T.alloc_shared((bm,bn),H)
            o1=T.alloc_shared((bm,bn),H)
            o2=T.alloc_shared((bm,bn),F)
            v0=T.alloc_shared((bn,),F); v1=T.alloc_shared((bn,),F)
            c0=T.alloc_fragment((bm,bn),F); c1=T.alloc_fragment((bm,bn),F); r0=T.alloc_fragment((bm,),F)
            T.clear(c0); T.clear(c1)
            for k0 in T.Pipelined(3,num_stages=3):
                T.copy(A[by*bm,k0*bk],a1)
                T.copy(V[bx*bn],v0)
                T.copy(B[k0*bk,bx*bn],b2)
                T.gemm(a1,b2,c1)
                for k1 in T.serial(8):
                    T.copy(A[by*bm,k1*bk],a0)
                    T.copy(B[k1*bk,bx*bn],b1)
                    T.gemm(a0,b1,c0)
            T.gemm(a1,b2,c0)
            T.copy(c0,C[by*bm,bx*bn])
            T.copy(c1,Z[by*bm,bx*bn])
    return main
CASES.append(('k20',{},['sm_80', 'sm_90']))
def k21():
    M=512;N=512;K=512;bm=128;bn=64;bk=64
    @T.prim_func
    def main(A: T.Tensor((M,K),H), B: T.Tensor((K,N),H), C: T.Tensor((M,N),H), V: T.Tensor((N,),F), X: T.Tensor((64,),'int32'), A32: T.Tensor((M,K),F), Y: T.Tensor((M,),F), Z: T.Tensor((M,N),F)):
        with T.Kernel(N//bn,M//bm,threads=128) as (bx,by):
            a0=T.alloc_shared((bm,bk),H)
            a1=T.alloc_shared((bm,bk),H)
            a2=T.alloc_shared((bm,bk),H)
            b0=T.alloc_shared((bk,bn),H)
            b1=T.alloc_shared((bk,bn),H)
            b2=T.alloc_shared((bk,bn),H)
            o0=T.alloc_shared((bm,bn),H)
            o1=T.alloc_shared((bm,bn),H)
            o2=T.alloc_shared((bm,bn),F)
            v0=T.alloc_shared((bn,),F); v1=T.alloc_shared((bn,),F)
            c0=T.alloc_fragment((bm,bn),F); c1=T.alloc_fragment((bm,bn),F); r0=T.alloc_fragment((bm,),F)
            T.clear(c0); T.clear(c1)
            for k0 in T.Pipelined(2,num_stages=1):
                if by>2:
                    if X[5]>0:
                        T.clear(c1)
                else:
                    if X[5]>0:
                        T.copy(C[by*bm,bx*bn],o0)
                        T.copy(A[by*bm,k0*bk],a1)
            T.copy(c0,o1)
            T.copy(o1,C[by*bm,bx*bn])
            T.copy(c1,Z[by*bm,bx*bn])
    return main
CASES.append(('k21',{},['sm_80', 'sm_90']))
def k22():
    M=512;N=512;K=512;bm=128;bn=64;bk=64
    @T.prim_func
    def main(A: T.Tensor((M,K),H), B: T.Tensor((K,N),H), C: T.Tensor((M,N),H), V: T.Tensor((N,),F), X: T.Tensor((64,),'int32'), A32: T.Tensor((M,K),F), Y: T.Tensor((M,),F), Z: T.Tensor((M,N),F)):
        with T.Kernel(N//bn,M//bm,threads=256) as (bx,by):
            a0=T.alloc_shared((bm,bk),H)
            a1=T.alloc_shared((bm,bk),H)
            a2=T.alloc_shared((bm,bk),H)
            b0=T.alloc_shared((bk,bn),H)
            b1=T.alloc_shared((bk,bn),H)
            b2=T.alloc_shared((bk,bn),H)
            o0=T.alloc_shared((bm,bn),H)
            o1=T.alloc_shared((bm,bn),H)
            o2=T.alloc_shared((bm,bn),F)
            v0=T.alloc_shared((bn,),F); v1=T.alloc_shared((bn,),F)
            c0=T.alloc_fragment((bm,bn),F); c1=T.alloc_fragment((bm,bn),F); r0=T.alloc_fragment((bm,),F)
            T.clear(c0); T.clear(c1)
            for i,j in T.Parallel(bm,bk): a2[i,j]=A[by*bm+i,0*bk+j]*T.float16(2)
            for k0 in T.serial(2):
                T.copy(V[bx*bn],v0)
                T.copy(A[by*bm,k0*bk],a2)
                T.copy(B[k0*bk,bx*bn],b1)
                T.gemm(a2,b1,c0)
                T.copy(A[by*bm,k0*bk],a2)
                T.copy(V[bx*bn],v0)
            for k1 in T.Pipelined(2,num_stages=0):
                T.copy(C[by*bm,bx*bn],o0)
            T.copy(B[0*bk,bx*bn],b0)
            T.copy(o0,o1)
            for k2 in T.Pipelined(8,num_stages=3):
                T.gemm(a2,b0,c1)
                T.copy(V[bx*bn],v1)
            T.copy(V[bx*bn],v0)
            T.copy(c0,o1)
            T.copy(o1,C[by*bm,bx*bn])
            T.copy(c1,Z[by*bm,bx*bn])
    return main
CASES.append(('k22',{},['sm_80', 'gfx942']))
def k23():
    M=512;N=512;K=512;bm=64;bn=64;bk=64
    @T.prim_func
    def main(A: T.Tensor((M,K),H), B: T.Tensor((K,N),H), C: T.Tensor((M,N),H), V: T.Tensor((N,),F), X: T.Tensor((64,),'int32'), A32: T.Tensor((M,K),F), Y: T.Tensor((M,),F), Z: T.Tensor((M,N),F)):
        with T.Kernel(N//bn,M//bm,threads=128) as (bx,by):
            a0=T.alloc_shared((bm,bk),H)
            a1=T.alloc_shared((bm,bk),H)
            a2=T.alloc_shared((bm,bk),H)
            b0=T.alloc_shared((bk,bn),H)
            b1=T.alloc_shared((bk,bn),H)
            b2=T.alloc_shared((bk,bn),H)
            o0=T.alloc_shared((bm,bn),H)
            o1=T.alloc_shared((bm,bn),H)
            o2=T.alloc_shared((bm,bn),F)
            v0=T.alloc_shared((bn,),F); v1=T.alloc_shared((bn,),F)
            c0=T.alloc_fragment((bm,bn),F); c1=T.alloc_fragment((bm,bn),F); r0=T.alloc_fragment((bm,),F)
            T.clear(c0); T.clear(c1)
            for k0 in T.unroll(2,explicit=True):
                if by>0:
                    if by>0:
                        T.clear(c1)
                T.copy(V[bx*bn],v0)
            T.copy(c0,o1)
            T.copy(o1,C[by*bm,bx*bn])
            T.copy(c1,Z[by*bm,bx*bn])
    return main
CASES.append(('k23',{},['sm_80', 'sm_90']))
def k24():
    M=512;N=512;K=512;bm=64;bn=64;bk=32
    @T.prim_func
    def main(A: T.Tensor((M,K),H), B: T.Tensor((K,N),H), C: T.Tensor((M,N),H), V: T.Tensor((N,),F), X: T.Tensor((64,),'int32'), A32: T.Tensor((M,K),F), Y: T.Tensor((M,),F), Z: T.Tensor((M,N),F)):
        with T.Kernel(N//bn,M//bm,threads=128) as (bx,by):
            a0=T.alloc_shared((bm,bk),H)
            a1=T.alloc_shared((bm,bk),H)
            a2=T.alloc_shared((bm,bk),H)
            b0=T.alloc_shared((bk,bn),H)
            b1=T.alloc_shared((bk,bn),H)
            b2=T.alloc_shared((bk,bn),H)
            o0=T.alloc_shared((bm,bn),H)
            o1=T.alloc_shared((bm,bn),H)
            o2=T.alloc_shared((bm,bn),F)
            v0=T.alloc_shared((bn,),F); v1=T.alloc_shared((bn,),F)
            c0=T.alloc_fragment((bm,bn),F); c1=T.alloc_fragment((bm,bn),F); r0=T.alloc_fragment((bm,),F)
            T.clear(c0); T.clear(c1)
            T.copy(c0,o1)
            T.copy(o1,C[by*bm,bx*bn])
            for k0 in T.serial(8):
                T.copy(A[by*bm,k0*bk],a2)
                T.copy(B[k0*bk,bx*bn],b0)
                T.gemm(a2,b0,c0)
                T.copy(V[bx*bn],v1)
            T.copy(c0,C[by*bm,bx*bn])
            T.copy(c1,Z[by*bm,bx*bn])
    return main
CASES.append(('k24',{},['sm_90', 'sm_100a']))
def k25():
    M=512;N=512;K=512;bm=64;bn=64;bk=16
    @T.prim_func
    def main(A: T.Tensor((M,K),H), B: T.Tensor((K,N),H), C: T.Tensor((M,N),H), V: T.Tensor((N,),F), X: T.Tensor((64,),'int32'), A32: T.Tensor((M,K),F), Y: T.Tensor((M,),F), Z: T.Tensor((M,N),F)):
        with T.Kernel(N//bn,M//bm,threads=128) as (bx,by):
            a0=T.alloc_shared((bm,bk),H)
            a1=T.alloc_shared((bm,bk),H)
            a2=T.alloc_shared((bm,bk),H)
            b0=T.alloc_shared((bk,bn),H)
            b1=T.alloc_shared((bk,bn),H)
            b2=T.alloc_shared((bk,bn),H)
            o0=T.alloc_shared((bm,bn),H)
            o1=T.alloc_shared((bm,bn),H)
            o2=T.alloc_shared((bm,bn),F)
            v0=T.alloc_shared((bn,),F); v1=T.alloc_shared((bn,),F)
            c0=T.alloc_fragment((bm,bn),F); c1=T.alloc_fragment((bm,bn),F); r0=T.alloc_fragment((bm,),F)
            T.clear(c0); T.clear(c1)
            for k0 in T.Pipelined(8,num_stages=1):
                T.copy(A[by*bm,k0*bk],a2)
                T.copy(V[bx*bn],v0)
                T.copy(C[by*bm,bx*bn],o1)
                T.copy(c1,o1)
                T.copy(o1,C[by*bm,bx*bn])
            T.reduce_max(c0,r0,dim=1)
            T.copy(r0,Y[by*bm])
            T.copy(c0,o1)
            T.copy(o1,C[by*bm,bx*bn])
            T.copy(c1,Z[by*bm,bx*bn])
    return main
CASES.append(('k25',{},['sm_90', 'sm_100a']))
def k26():
    M=512;N=512;K=512;bm=128;bn=128;bk=64
    @T.prim_func
    def main(A: T.Tensor((M,K),H), B: T.Tensor((K,N),H), C: T.Tensor((M,N),H), V: T.Tensor((N,),F), X: T.Tensor((64,),'int32'), A32: T.Tensor((M,K),F), Y: T.Tensor((M,),F), Z: T.Tensor((M,N),F)):
        with T.Kernel(N//bn,M//bm,threads=256) as (bx,by):
            a0=T.alloc_shared((bm,bk),H)
            a1=T.alloc_shared((bm,bk),H)
            a2=T.alloc_shared((bm,bk),H)
            b0=T.alloc_shared((bk,bn),H)
            b1=T.alloc_shared((bk,bn),H)
            b2=T.alloc_shared((bk,bn),H)
            o0=T.alloc_shared((bm,bn),H)
            o1=T.alloc_shared((bm,bn),H)
            o2=T.alloc_shared((bm,bn),F)
            v0=T.alloc_shared((bn,),F); v1=T.alloc_shared((bn,),F)
            c0=T.alloc_fragment((bm,bn),F); c1=T.alloc_fragment((bm,bn),F); r0=T.alloc_fragment((bm,),F)
            T.clear(c0); T.clear(c1)
            for k0 in T.Pipelined(3,num_stages=3):
                T.copy(B[k0*bk,bx*bn],b1)
            T.copy(C[by*bm,bx*bn],o1)
            for i,j in T.Parallel(bm,bn): c1[i,j]+=o1[i,j]
            T.copy(c0,o1)
            T.copy(o1,C[by*bm,bx*bn])
            T.copy(c1,Z[by*bm,bx*bn])
    return main
CASES.append(('k26',{},['sm_80', 'sm_90']))
def k27():
    M=512;N=512;K=512;bm=128;bn=64;bk=32
    @T.prim_func
    def main(A: T.Tensor((M,K),H), B: T.Tensor((K,N),H), C: T.Tensor((M,N),H), V: T.Tensor((N,),F), X: T.Tensor((64,),'int32'), A32: T.Tensor((M,K),F), Y: T.Tensor((M,),F), Z: T.Tensor((M,N),F)):
        with T.Kernel(N//bn,M//bm,threads=256) as (bx,by):
            a0=T.alloc_shared((bm,bk),H)
            a1=T.alloc_shared((bm,bk),H)
            a2=T.alloc_shared((bm,bk),H)
            b0=T.alloc_shared((bk,bn),H)
            b1=T.alloc_shared((bk,bn),H)
            b2=T.alloc_shared((bk,bn),H)
            o0=T.alloc_shared((bm,bn),H)
            o1=T.alloc_shared((bm,bn),H)
            o2=T.alloc_shared((bm,bn),F)
            v0=T.alloc_shared((bn,),F); v1=T.alloc_shared((bn,),F)
            c0=T.alloc_fragment((bm,bn),F); c1=T.alloc_fragment((bm,bn),F); r0=T.alloc_fragment((bm,),F)
            T.clear(c0); T.clear(c1)
            for k0 in T.Pipelined(8,num_stages=0):
                T.copy(A[by*bm,k0*bk],a1)
                for k1 in T.unroll(3,explicit=True):
                    T.copy(A[by*bm,k1*bk],a0)
                    T.copy(B[k1*bk,bx*bn],b1)
                    T.gemm(a0,b1,c1)
            T.copy(c0,o0)
            T.reduce_max(c0,r0,dim=1)
            T.copy(r0,Y[by*bm])
            T.copy(c0,C[by*bm,bx*bn])
            T.copy(c1,Z[by*bm,bx*bn])
    return main
CASES.append(('k27',{},['sm_80', 'sm_90']))
def k28():
    M=512;N=512;K=512;bm=64;bn=128;bk=64
    @T.prim_func
    def main(A: T.Tensor((M,K),H), B: T.Tensor((K,N),H), C: T.Tensor((M,N),H), V: T.Tensor((N,),F), X: T.Tensor((64,),'int32'), A32: T.Tensor((M,K),F), Y: T.Tensor((M,),F), Z: T.Tensor((M,N),F)):
        with T.Kernel(N//bn,M//bm,threads=128) as (bx,by):
            a0=T.alloc_shared((bm,bk),H)
            a1=T.alloc_shared((bm,bk),H)
            a2=T.alloc_shared((bm,bk),H)
            b0=T.alloc_shared((bk,bn),H)
            b1=T.alloc_shared((bk,bn),H)
            b2=T.alloc_shared((bk,bn),H)
            o0=T.alloc_shared((bm,bn),H)
            o1=T.alloc_shared((bm,bn),H)
            o2=T.alloc_shared((bm,bn),F)
            v0=T.alloc_shared((bn,),F); v1=T.alloc_shared((bn,),F)
            c0=T.alloc_fragment((bm,bn),F); c1=T.alloc_fragment((bm,bn),F); r0=T.alloc_fragment((bm,),F)
            T.clear(c0); T.clear(c1)
            T.copy(B[0*bk,bx*bn],b0)
            for k0 in T.serial(4):
                T.clear(c0)
            T.copy(V[bx*bn],v1)
            T.copy(c0,o1)
            T.copy(o1,C[by*bm,bx*bn])
            T.copy(c1,Z[by*bm,bx*bn])
    return main
CASES.append(('k28',{},['sm_90', 'gfx950']))
def k29():
    M=512;N=512;K=512;bm=64;bn=128;bk=32
    @T.prim_func
    def main(A: T.Tensor((M,K),H), B: T.Tensor((K,N),H), C: T.Tensor((M,N),H), V: T.Tensor((N,),F), X: T.Tensor((64,),'int32'), A32: T.Tensor((M,K),F), Y: T.Tensor((M,),F), Z: T.Tensor((M,N),F)):
        with T.Kernel(N//bn,M//bm,threads=128) as (bx,by):
            a0=T.alloc_shared((bm,bk),H)
            a1=T.alloc_shared((bm,bk),H)
            a2=T.alloc_shared((bm,bk),H)
            b0=T.alloc_shared((bk,bn),H)
            b1=T.alloc_shared((bk,bn),H)
            b2=T.alloc_shared((bk,bn),H)
            o0=T.alloc_shared((bm,bn),H)
            o1=T.alloc_shared((bm,bn),H)
            o2=T.alloc_shared((bm,bn),F)
            v0=T.alloc_shared((bn,),F); v1=T.alloc_shared((bn,),F)
            c0=T.alloc_fragment((bm,bn),F); c1=T.alloc_fragment((bm,bn),F); r0=T.alloc_fragment((bm,),F)
            T.clear(c0); T.clear(c1)
            for k0 in T.Pipelined(2,num_stages=1):
                T.copy(B[k0*bk,bx*bn],b2)
            for k1 in T.Pipelined(4,num_stages=1):
                T.copy(A[by*bm,k1*bk],a0)
                T.copy(V[bx*bn],v0)
                T.copy(B[k1*bk,bx*bn],b2)
                T.gemm(a0,b2,c0)
            T.copy(c0,C[by*bm,bx*bn])
            T.copy(c1,Z[by*bm,bx*bn])
    return main
CASES.append(('k29',{},['sm_90', 'gfx950']))
def k30():
    M=512;N=512;K=512;bm=64;bn=64;bk=32
    @T.prim_func
    def main(A: T.Tensor((M,K),H), B: T.Tensor((K,N),H), C: T.Tensor((M,N),H), V: T.Tensor((N,),F), X: T.Tensor((64,),'int32'), A32: T.Tensor((M,K),F), Y: T.Tensor((M,),F), Z: T.Tensor((M,N),F)):
        with T.Kernel(N//bn,M//bm,threads=128) as (bx,by):
            a0=T.alloc_shared((bm,bk),H)
            a1=T.alloc_shared((bm,bk),H)
            a2=T.alloc_shared((bm,bk),H)
            b0=T.alloc_shared((bk,bn),H)
            b1=T.alloc_shared((bk,bn),H)
            b2=T.alloc_shared((bk,bn),H)
            o0=T.alloc_shared((bm,bn),H)
            o1=T.alloc_shared((bm,bn),H)
            o2=T.alloc_shared((bm,bn),F)
            v0=T.alloc_shared((bn,),F); v1=T.alloc_shared((bn,),F)
            c0=T.alloc_fragment((bm,bn),F); c1=T.alloc_fragment((bm,bn),F); r0=T.alloc_fragment((bm,),F)
            T.clear(c0); T.clear(c1)
            for k0 in T.Pipelined(2,num_stages=3):
                if X[k0]>0:
                    T.copy(A[by*bm,k0*bk],a2)
                    T.copy(B[k0*bk,bx*bn],b1)
                    T.gemm(a2,b1,c1)
                    T.reduce_sum(c0,r0,dim=1)
                    T.copy(r0,Y[by*bm])
                    T.copy(B[k0*bk,bx*bn],b0)
            T.copy(A32[by*bm,0*bk],a0)
            for k1 in T.Pipelined(8,num_stages=2):
                T.fill(o0,0)
                T.copy(B[k1*bk,bx*bn],b0)
            for i,j in T.Parallel(bm,bn): c0[i,j]+=o0[i,j]
            for k2 in T.Pipelined(8,num_stages=1):
                T.copy(A[by*bm,k2*bk],a0)
                T.copy(V[bx*bn],v0)
                T.copy(B[k2*bk,bx*bn],b1)
                T.gemm(a0,b1,c0)
                T.gemm(a2,b0,c1)
                T.copy(c0,o1)
                T.copy(o1,C[by*bm,bx*bn])
            for k3 in T.unroll(3,explicit=True):
                T.copy(B[k3*bk,bx*bn],b1)
                T.copy(B[k3*bk,bx*bn],b0)
            T.gemm(a0,b0,c0)
            T.copy(c0,o1)
            T.copy(o1,C[by*bm,bx*bn])
            T.copy(c1,Z[by*bm,bx*bn])
    return main
CASES.append(('k30',{},['sm_80', 'sm_90']))
def k31():
    M=512;N=512;K=512;bm=128;bn=32;bk=16
    @T.prim_func
    def main(A: T.Tensor((M,K),H), B: T.Tensor((K,N),H), C: T.Tensor((M,N),H), V: T.Tensor((N,),F), X: T.Tensor((64,),'int32'), A32: T.Tensor((M,K),F), Y: T.Tensor((M,),F), Z: T.Tensor((M,N),F)):
        with T.Kernel(N//bn,M//bm,threads=128) as (bx,by):
            a0=T.alloc_shared((bm,bk),H)
            a1=T.alloc_shared((bm,bk),H)
            a2=T.alloc_shared((bm,bk),H)
            b0=T.alloc_shared((bk,bn),H)
            b1=T.alloc_shared((bk,bn),H)
            b2=T.alloc_shared((bk,bn),H)
            o0=T.alloc_shared((bm,bn),H)
            o1=T.alloc_shared((bm,bn),H)
            o2=T.alloc_shared((bm,bn),F)
            v0=T.alloc_shared((bn,),F); v1=T.alloc_shared((bn,),F)
            c0=T.alloc_fragment((bm,bn),F); c1=T.alloc_fragment((bm,bn),F); r0=T.alloc_fragment((bm,),F)
            T.clear(c0); T.clear(c1)
            T.copy(A[by*bm,0*bk],a2)
            T.copy(A[by*bm,0*bk],a0)
            for k0 in T.Pipelined(8,num_stages=2):
                T.copy(A[by*bm,k0*bk],a1)
                T.copy(B[k0*bk,bx*bn],b0)
                T.gemm(a1,b0,c1)
            for k1 in T.unroll(3,explicit=True):
                T.copy(A[by*bm,k1*bk],a0)
                T.copy(B[k1*bk,bx*bn],b2)
                T.gemm(a0,b2,c1)
            for k2 in T.serial(8):
                T.gemm(a2,b2,c0)
            T.copy(c0,o1)
            T.copy(o1,C[by*bm,bx*bn])
            T.copy(c1,Z[by*bm,bx*bn])
    return main
CASES.append(('k31',{},['sm_90', 'sm_100a']))
def k32():
    M=512;N=512;K=512;bm=128;bn=128;bk=64
    @T.prim_func
    def main(A: T.Tensor((M,K),H), B: T.Tensor((K,N),H), C: T.Tensor((M,N),H), V: T.Tensor((N,),F), X: T.Tensor((64,),'int32'), A32: T.Tensor((M,K),F), Y: T.Tensor((M,),F), Z: T.Tensor((M,N),F)):
        with T.Kernel(N//bn,M//bm,threads=128) as (bx,by):
            a0=T.alloc_shared((bm,bk),H)
            a1=T.alloc_shared((bm,bk),H)
            a2=T.alloc_shared((bm,bk),H)
            b0=T.alloc_shared((bk,bn),H)
            b1=T.alloc_shared((bk,bn),H)
            b2=T.alloc_shared((bk,bn),H)
            o0=T.alloc_shared((bm,bn),H)
            o1=T.alloc_shared((bm,bn),H)
            o2=T.alloc_shared((bm,bn),F)
            v0=T.alloc_shared((bn,),F); v1=T.alloc_shared((bn,),F)
            c0=T.alloc_fragment((bm,bn),F); c1=T.alloc_fragment((bm,bn),F); r0=T.alloc_fragment((bm,),F)
            T.clear(c0); T.clear(c1)
            for k0 in T.Pipelined(4,num_stages=4):
                T.copy(A[by*bm,k0*bk],a1)
                T.copy(B[k0*bk,bx*bn],b0)
                T.gemm(a1,b0,c1)
            T.copy(c0,C[by*bm,bx*bn])
            T.copy(c1,Z[by*bm,bx*bn])
    return main
CASES.append(('k32',{},['sm_90', 'gfx950']))
def k33():
    M=512;N=512;K=512;bm=32;bn=64;bk=16
    @T.prim_func
    def main(A: T.Tensor((M,K),H), B: T.Tensor((K,N),H), C: T.Tensor((M,N),H), V: T.Tensor((N,),F), X: T.Tensor((64,),'int32'), A32: T.Tensor((M,K),F), Y: T.Tensor((M,),F), Z: T.Tensor((M,N),F)):
        with T.Kernel(N//bn,M//bm,threads=256) as (bx,by):
            a0=T.alloc_shared((bm,bk),H)
            a1=T.alloc_shared((bm,bk),H)
            a2=T.alloc_shared((bm,bk),H)
            b0=T.alloc_shared((bk,bn),H)
            b1=T.alloc_shared((bk,bn),H)
            b2=T.alloc_shared((bk,bn),H)
            o0=T.alloc_shared((bm,bn),H)
            o1=T.alloc_shared((bm,bn),H)
            o2=T.alloc_shared((bm,bn),F)
            v0=T.alloc_shared((bn,),F); v1=T.alloc_shared((bn,),F)
            c0=T.alloc_fragment((bm,bn),F); c1=T.alloc_fragment((bm,bn),F); r0=T.alloc_fragment((bm,),F)
            T.clear(c0); T.clear(c1)
            T.copy(B[0*bk,bx*bn],b1)
            for k0 in T.Pipelined(8,num_stages=2):
                if X[k0]>0:
                    T.copy(A[by*bm,k0*bk],a1)
                    T.copy(B[k0*bk,bx*bn],b2)
                    T.gemm(a1,b2,c0)
                    T.gemm(a1,b2,c1)
                    T.copy(C[by*bm,bx*bn],o0)
            for k1 in T.serial(2):
                for i,j in T.Parallel(bm,bn): c0[i,j]+=o0[i,j]
            T.copy(C[by*bm,bx*bn],o1)
            T.copy(c0,C[by*bm,bx*bn])
            T.copy(c1,Z[by*bm,bx*bn])
    return main
CASES.append(('k33',{},['sm_80', 'gfx942']))
def k34():
    M=512;N=512;K=512;bm=128;bn=32;bk=32
    @T.prim_func
    def main(A: T.Tensor((M,K),H), B: T.Tensor((K,N),H), C: T.Tensor((M,N),H), V: T.Tensor((N,),F), X: T.Tensor((64,),'int32'), A32: T.Tensor((M,K),F), Y: T.Tensor((M,),F), Z: T.Tensor((M,N),F)):
        with T.Kernel(N//bn,M//bm,threads=128) as (bx,by):
            a0=T.alloc_shared((bm,bk),H)
            a1=T.alloc_shared((bm,bk),H)
            a2=T.alloc_shared((bm,bk),H)
            b0=T.alloc_shared((bk,bn),H)
            b1=T.alloc_shared((bk,bn),H)
            b2=T.alloc_shared((bk,bn),H)
            o0=T.alloc_shared((bm,bn),H)
            o1=T.alloc_shared((bm,bn),H)
            o2=T.alloc_shared((bm,bn),F)
            v0=T.alloc_shared((bn,),F); v1=T.alloc_shared((bn,),F)
            c0=T.alloc_fragment((bm,bn),F); c1=T.alloc_fragment((bm,bn),F); r0=T.alloc_fragment((bm,),F)
            T.clear(c0); T.clear(c1)
            for k0 in T.serial(2):
                T.copy(C[by*bm,bx*bn],o0)
                if by>1:
                    T.clear(c1)
            for k1 in T.Pipelined(8,num_stages=2):
                T.copy(A[by*bm,k1*bk],a1)
                T.copy(B[k1*bk,bx*bn],b2)
                T.gemm(a1,b2,c0)
            for i,j in T.Parallel(bm,bn): c0[i,j]+=o0[i,j]
            T.copy(c0,o1)
            T.copy(o1,C[by*bm,bx*bn])
            T.copy(c1,Z[by*bm,bx*bn])
    return main
CASES.append(('k34',{},['sm_80', 'sm_90']))
def k35():
    M=512;N=512;K=512;bm=64;bn=128;bk=32
    @T.prim_func
    def main(A: T.Tensor((M,K),H), B: T.Tensor((K,N),H), C: T.Tensor((M,N),H), V: T.Tensor((N,),F), X: T.Tensor((64,),'int32'), A32: T.Tensor((M,K),F), Y: T.Tensor((M,),F), Z: T.Tensor((M,N),F)):
        with T.Kernel(N//bn,M//bm,threads=128) as (bx,by):
            a0=T.alloc_shared((bm,bk),H)
            a1=T.alloc_shared((bm,bk),H)
            a2=T.alloc_shared((bm,bk),H)
            b0=T.alloc_shared((bk,bn),H)
            b1=T.alloc_shared((bk,bn),H)
            b2=T.alloc_shared((bk,bn),H)
            o0=T.alloc_shared((bm,bn),H)
            o1=T.alloc_shared((bm,bn),H)
            o2=T.alloc_shared((bm,bn),F)
            v0=T.alloc_shared((bn,),F); v1=T.alloc_shared((bn,),F)
            c0=T.alloc_fragment((bm,bn),F); c1=T.alloc_fragment((bm,bn),F); r0=T.alloc_fragment((bm,),F)
            T.clear(c0); T.clear(c1)
            T.copy(A[by*bm,0*bk],a1)
            for k0 in T.serial(3):
                T.copy(A[by*bm,k0*bk],a1)
                T.copy(B[k0*bk,bx*bn],b0)
                T.gemm(a1,b0,c0)
            T.copy(A[by*bm,0*bk],a1)
            T.copy(c0,o1)
            T.copy(o1,C[by*bm,bx*bn])
            T.copy(c1,Z[by*bm,bx*bn])
    return main
CASES.append(('k35',{},['sm_90', 'sm_100a']))
def k36():
    M=512;N=512;K=512;bm=64;bn=64;bk=16
    @T.prim_func
    def main(A: T.Tensor((M,K),H), B: T.Tensor((K,N),H), C: T.Tensor((M,N),H), V: T.Tensor((N,),F), X: T.Tensor((64,),'int32'), A32: T.Tensor((M,K),F), Y: T.Tensor((M,),F), Z: T.Tensor((M,N),F)):
        with T.Kernel(N//bn,M//bm,threads=128) as (bx,by):
            a0=T.alloc_shared((bm,bk),H)
            a1=T.alloc_shared((bm,bk),H)
            a2=T.alloc_shared((bm,bk),H)
            b0=T.alloc_shared((bk,bn),H)
            b1=T.alloc_shared((bk,bn),H)
            b2=T.alloc_shared((bk,bn),H)
            o0=T.alloc_shared((bm,bn),H)
            o1=T.alloc_shared((bm,bn),H)
            o2=T.alloc_shared((bm,bn),F)
            v0=T.alloc_shared((bn,),F); v1=T.alloc_shared((bn,),F)
            c0=T.alloc_fragment((bm,bn),F); c1=T.alloc_fragment((bm,bn),F); r0=T.alloc_fragment((bm,),F)
            T.clear(c0); T.clear(c1)
            T.copy(C[by*bm,bx*bn],o1)
            for k0 in T.Pipelined(3,num_stages=2):
                T.copy(A[by*bm,k0*bk],a0)
                T.copy(B[k0*bk,bx*bn],b0)
                T.gemm(a0,b0,c0)
                T.fill(o0,0)
            for k1 in T.Pipelined(2,num_stages=0):
                T.copy(A[by*bm,k1*bk],a1)
                T.copy(B[k1*bk,bx*bn],b1)
                T.gemm(a1,b1,c0)
                for k2 in T.serial(8):
                    T.copy(A[by*bm,k2*bk],a1)
                    T.copy(B[k2*bk,bx*bn],b1)
                    T.gemm(a1,b1,c0)
                    T.reduce_max(c0,r0,dim=1)
                    T.copy(r0,Y[by*bm])
                    if by>1:
                        T.clear(c1)
            for k3 in T.Pipelined(4,num_stages=1):
                T.copy(A[by*bm,k3*bk],a2)
                T.copy(B[k3*bk,bx*bn],b0)
                T.gemm(a2,b0,c0)
            T.copy(c0,C[by*bm,bx*bn])
            T.copy(c1,Z[by*bm,bx*bn])
    return main
CASES.append(('k36',{},['sm_90', 'sm_100a']))
def k37():
    M=512;N=512;K=512;bm=32;bn=64;bk=16
    @T.prim_func
    def main(A: T.Tensor((M,K),H), B: T.Tensor((K,N),H), C: T.Tensor((M,N),H), V: T.Tensor((N,),F), X: T.Tensor((64,),'int32'), A32: T.Tensor((M,K),F), Y: T.Tensor((M,),F), Z: T.Tensor((M,N),F)):
        with T.Kernel(N//bn,M//bm,threads=128) as (bx,by):
            a0=T.alloc_shared((bm,bk),H)
            a1=T.alloc_shared((bm,bk),H)
            a2=T.alloc_shared((bm,bk),H)
            b0=T.alloc_shared((bk,bn),H)
            b1=T.alloc_shared((bk,bn),H)
            b2=T.alloc_shared((bk,bn),H)
            o0=T.alloc_shared((bm,bn),H)
            o1=T.alloc_shared((bm,bn),H)
            o2=T.alloc_shared((bm,bn),F)
            v0=T.alloc_shared((bn,),F); v1=T.alloc_shared((bn,),F)
            c0=T.alloc_fragment((bm,bn),F); c1=T.alloc_fragment((bm,bn),F); r0=T.alloc_fragment((bm,),F)
            T.clear(c0); T.clear(c1)
            T.copy(V[bx*bn],v0)
            for k0 in T.Pipelined(8,num_stages=2):
                if X[k0]>0:
                    T.copy(A[by*bm,k0*bk],a1)
                    T.copy(B[k0*bk,bx*bn],b0)
                    T.gemm(a1,b0,c1)
                    T.copy(C[by*bm,bx*bn],o0)
                    for k1 in T.serial(2):
                        T.copy(A[by*bm,k1*bk],a0)
                        T.copy(V[bx*bn],v0)
                        T.copy(B[k1*bk,bx*bn],b1)
                        T.gemm(a0,b1,c0)
            T.reduce_sum(c0,r0,dim=1)
            T.copy(V[bx*bn],v1)
            for k2 in T.serial(2):
                T.copy(V[bx*bn],v1)
            T.copy(c0,C[by*bm,bx*bn])
            T.copy(c1,Z[by*bm,bx*bn])
    return main
CASES.append(('k37',{},['sm_90', 'sm_100a']))
def k38():
    M=512;N=512;K=512;bm=128;bn=128;bk=64
    @T.prim_func
    def main(A: T.Tensor((M,K),H), B: T.Tensor((K,N),H), C: T.Tensor((M,N),H), V: T.Tensor((N,),F), X: T.Tensor((64,),'int32'), A32: T.Tensor((M,K),F), Y: T.Tensor((M,),F), Z: T.Tensor((M,N),F)):
        with T.Kernel(N//bn,M//bm,threads=128) as (bx,by):
            a0=T.alloc_shared((bm,bk),H)
            a1=T.alloc_shared((bm,bk),H)
            a2=T.alloc_shared((bm,bk),H)
            b0=T.alloc_shared((bk,bn),H)
            b1=T.alloc_shared((bk,bn),H)
            b2=T.alloc_shared((bk,bn),H)
            o0=T.alloc_shared((bm,bn),H)
            o1=T.alloc_shared((bm,bn),H)
            o2=T.alloc_shared((bm,bn),F)
            v0=T.alloc_shared((bn,),F); v1=T.alloc_shared((bn,),F)
            c0=T.alloc_fragment((bm,bn),F); c1=T.alloc_fragment((bm,bn),F); r0=T.alloc_fragment((bm,),F)
            T.clear(c0); T.clear(c1)
            for k0 in T.Pipelined(3,num_stages=3):
                T.copy(B[k0*bk,bx*bn],b2)
                T.copy(C[by*bm,bx*bn],o1)
                T.fill(o0,0)
            T.copy(B[0*bk,bx*bn],b1)
            T.copy(c0,C[by*bm,bx*bn])
            T.copy(c1,Z[by*bm,bx*bn])
    return main
CASES.append(('k38',{},['sm_90', 'gfx950']))
def k39():
    M=512;N=512;K=512;bm=128;bn=128;bk=64
    @T.prim_func
    def main(A: T.Tensor((M,K),H), B: T.Tensor((K,N),H), C: T.Tensor((M,N),H), V: T.Tensor((N,),F), X: T.Tensor((64,),'int32'), A32: T.Tensor((M,K),F), Y: T.Tensor((M,),F), Z: T.Tensor((M,N),F)):
        with T.Kernel(N//bn,M//bm,threads=128) as (bx,by):
            a0=T.alloc_shared((bm,bk),H)
            a1=T.alloc_shared((bm,bk),H)
            a2=T.alloc_shared((bm,bk),H)
            b0=T.alloc_shared((bk,bn),H)
            b1=T.alloc_shared((bk,bn),H)
            b2=T.alloc_shared((bk,bn),H)
            o0=T.alloc_shared((bm,bn),H)
            o1=T.alloc_shared((bm,bn),H)
            o2=T.alloc_shared((bm,bn),F)
            v0=T.alloc_shared((bn,),F); v1=T.alloc_shared((bn,),F)
            c0=T.alloc_fragment((bm,bn),F); c1=T.alloc_fragment((bm,bn),F); r0=T.alloc_fragment((bm,),F)
            T.clear(c0); T.clear(c1)
            for k0 in T.Pipelined(8,num_stages=3):
                T.copy(A[by*bm,k0*bk],a0)
                T.copy(B[k0*bk,bx*bn],b2)
                T.gemm(a0,b2,c1)
            for k1 in T.serial(4):
                if X[k1]>0:
                    T.copy(A[by*bm,k1*bk],a2)
                    T.copy(B[k1*bk,bx*bn],b0)
                    T.gemm(a2,b0,c0)
                    T.copy(B[k1*bk,bx*bn],b1)
                    T.copy(C[by*bm,bx*bn],o1)
            for k2 in T.unroll(3,explicit=True):
                T.copy(A[by*bm,k2*bk],a2)
                T.copy(B[k2*bk,bx*bn],b0)
                T.gemm(a2,b0,c1)
            for k3 in T.Pipelined(4,num_stages=2):
                T.copy(A[by*bm,k3*bk],a2)
                T.copy(B[k3*bk,bx*bn],b1)
                T.gemm(a2,b1,c0)
                T.copy(C[by*bm,bx*bn],o1)
            for k4 in T.Pipelined(4,num_stages=3):
                T.copy(V[bx*bn],v0)
                T.copy(A[by*bm,k4*bk],a0)
                T.copy(B[k4*bk,bx*bn],b0)
                T.gemm(a0,b0,c0)
            T.copy(c0,o1)
            T.copy(o1,C[by*bm,bx*bn])
            T.copy(c1,Z[by*bm,bx*bn])
    return main
CASES.append(('k39',{},['sm_80', 'sm_90']))
def k40():
    M=512;N=512;K=512;bm=128;bn=32;bk=16
    @T.prim_func
    def main(A: T.Tensor((M,K),H), B: T.Tensor((K,N),H), C: T.Tensor((M,N),H), V: T.Tensor((N,),F), X: T.Tensor((64,),'int32'), A32: T.Tensor((M,K),F), Y: T.Tensor((M,),F), Z: T.Tensor((M,N),F)):
        with T.Kernel(N//bn,M//bm,threads=256) as (bx,by):
            a0=T.alloc_shared((bm,bk),H)
            a1=T.alloc_shared((bm,bk),H)
            a2=T.alloc_shared((bm,bk),H)
            b0=T.alloc_shared((bk,bn),H)
            b1=T.alloc_shared((bk,bn),H)
            b2=T.alloc_shared((bk,bn),H)
            o0=T.alloc_shared((bm,bn),H)
            o1=T.alloc_shared((bm,bn),H)
            o2=T.alloc_shared((bm,bn),F)
            v0=T.alloc_shared((bn,),F); v1=T.alloc_shared((bn,),F)
            c0=T.alloc_fragment((bm,bn),F); c1=T.alloc_fragment((bm,bn),F); r0=T.alloc_fragment((bm,),F)
            T.clear(c0); T.clear(c1)
            for k0 in T.unroll(3,explicit=True):
                T.copy(A[by*bm,k0*bk],a2)
                T.copy(B[k0*bk,bx*bn],b0)
                T.gemm(a2,b0,c0)
                if X[0]>0:
                    T.reduce_max(c0,r0,dim=1)
                    T.copy(r0,Y[by*bm])
                T.gemm(a2,b0,c0)
            for k1 in T.Pipelined(2,num_stages=2):
                T.copy(c0,o0)
                T.copy(o0,C[by*bm,bx*bn])
                T.gemm(a2,b0,c1)
                for i,j in T.Parallel(bm,bn): c1[i,j]+=o0[i,j]
                T.reduce_max(c1,r0,dim=1)
                T.copy(r0,Y[by*bm])
            T.gemm(a2,b0,c0)
            for k2 in T.Pipelined(2,num_stages=1):
                T.copy(B[k2*bk,bx*bn],b2)
                T.fill(o1,0)
                T.copy(B[k2*bk,bx*bn],b1)
                for i,j in T.Parallel(bm,bn): c1[i,j]+=o1[i,j]
            T.copy(c0,o1)
            T.copy(o1,C[by*bm,bx*bn])
            T.copy(c1,Z[by*bm,bx*bn])
    return main
CASES.append(('k40',{},['sm_80', 'sm_90']))
def k41():
    M=512;N=512;K=512;bm=64;bn=64;bk=64
    @T.prim_func
    def main(A: T.Tensor((M,K),H), B: T.Tensor((K,N),H), C: T.Tensor((M,N),H), V: T.Tensor((N,),F), X: T.Tensor((64,),'int32'), A32: T.Tensor((M,K),F), Y: T.Tensor((M,),F), Z: T.Tensor((M,N),F)):
        with T.Kernel(N//bn,M//bm,threads=128) as (bx,by):
            a0=T.alloc_shared((bm,bk),H)
            a1=T.alloc_shared((bm,bk),H)
            a2=T.alloc_shared((bm,bk),H)
            b0=T.alloc_shared((bk,bn),H)
            b1=T.alloc_shared((bk,bn),H)
            b2=T.alloc_shared((bk,bn),H)
            o0=T.alloc_shared((bm,bn),H)
            o1=T.alloc_shared((bm,bn),H)
            o2=T.alloc_shared((bm,bn),F)
            v0=T.alloc_shared((bn,),F); v1=T.alloc_shared((bn,),F)
            c0=T.alloc_fragment((bm,bn),F); c1=T.alloc_fragment((bm,bn),F); r0=T.alloc_fragment((bm,),F)
            T.clear(c0); T.clear(c1)
            T.reduce_max(c1,r0,dim=1)
            for k0 in T.Pipelined(4,num_stages=3):
                T.copy(A[by*bm,k0*bk],a1)
                T.copy(B[k0*bk,bx*bn],b2)
                T.gemm(a1,b2,c0)
            T.copy(c1,o0)
            T.gemm(a1,b2,c0)
            for k1 in T.Pipelined(2,num_stages=3):
                T.copy(A[by*bm,k1*bk],a2)
                T.copy(B[k1*bk,bx*bn],b0)
                T.gemm(a2,b0,c1)
                T.copy(A[by*bm,k1*bk],a2)
                T.gemm(a2,b0,c1)
            T.copy(B[0*bk,bx*bn],b1)
            T.copy(c0,C[by*bm,bx*bn])
            T.copy(c1,Z[by*bm,bx*bn])
    return main
CASES.append(('k41',{},['sm_80', 'gfx942']))
def k42():
    M=512;N=512;K=512;bm=64;bn=64;bk=32
    @T.prim_func
    def main(A: T.Tensor((M,K),H), B: T.Tensor((K,N),H), C: T.Tensor((M,N),H), V: T.Tensor((N,),F), X: T.Tensor((64,),'int32'), A32: T.Tensor((M,K),F), Y: T.Tensor((M,),F), Z: T.Tensor((M,N),F)):
        with T.Kernel(N//bn,M//bm,threads=256) as (bx,by):
            a0=T.alloc_shared((bm,bk),H)
            a1=T.alloc_shared((bm,bk),H)
            a2=T.alloc_shared((bm,bk),H)
            b0=T.alloc_shared((bk,bn),H)
            b1=T.alloc_shared((bk,bn),H)
            b2=T.alloc_shared((bk,bn),H)
            o0=T.alloc_shared((bm,bn),H)
            o1=T.alloc_shared((bm,bn),H)
            o2=T.alloc_shared((bm,bn),F)
            v0=T.alloc_shared((bn,),F); v1=T.alloc_shared((bn,),F)
            c0=T.alloc_fragment((bm,bn),F); c1=T.alloc_fragment((bm,bn),F); r0=T.alloc_fragment((bm,),F)
            T.clear(c0); T.clear(c1)
            for k0 in T.serial(2):
                T.copy(C[by*bm,bx*bn],o1)
                T.copy(A[by*bm,k0*bk],a2)
                T.copy(V[bx*bn],v1)
            for i,j in T.Parallel(bm,bn): c0[i,j]+=v1[j]
            for k1 in T.Pipelined(2,num_stages=2):
                T.copy(A[by*bm,k1*bk],a0)
                T.copy(B[k1*bk,bx*bn],b2)
                T.gemm(a0,b2,c0)
            T.copy(o1,o0)
            T.copy(V[bx*bn],v0)
            for k2 in T.Pipelined(8,num_stages=1):
                T.copy(B[k2*bk,bx*bn],b2)
            for k3 in T.Pipelined(8,num_stages=2):
                if X[k3]>0:
                    T.copy(A[by*bm,k3*bk],a0)
                    T.copy(B[k3*bk,bx*bn],b1)
                    T.gemm(a0,b1,c0)
            T.copy(c0,C[by*bm,bx*bn])
            T.copy(c1,Z[by*bm,bx*bn])
    return main
CASES.append(('k42',{},['sm_90', 'gfx950']))
def k43():
    M=512;N=512;K=512;bm=64;bn=64;bk=32
    @T.prim_func
    def main(A: T.Tensor((M,K),H), B: T.Tensor((K,N),H), C: T.Tensor((M,N),H), V: T.Tensor((N,),F), X: T.Tensor((64,),'int32'), A32: T.Tensor((M,K),F), Y: T.Tensor((M,),F), Z: T.Tensor((M,N),F)):
        with T.Kernel(N//bn,M//bm,threads=128) as (bx,by):
            a0=T.alloc_shared((bm,bk),H)
            a1=T.alloc_shared((bm,bk),H)
            a2=T.alloc_shared((bm,bk),H)
            b0=T.alloc_shared((bk,bn),H)
            b1=T.alloc_shared((bk,bn),H)
            b2=T.alloc_shared((bk,bn),H)
            o0=T.alloc_shared((bm,bn),H)
            o1=T.alloc_shared((bm,bn),H)
            o2=T.alloc_shared((bm,bn),F)
            v0=T.alloc_shared((bn,),F); v1=T.alloc_shared((bn,),F)
            c0=T.alloc_fragment((bm,bn),F); c1=T.alloc_fragment((bm,bn),F); r0=T.alloc_fragment((bm,),F)
            T.clear(c0); T.clear(c1)
            for k0 in T.serial(2):
                if X[5]>0:
                    T.clear(c1)
                    T.copy(A[by*bm,k0*bk],a0)
                else:
                    T.clear(c1)
                for k1 in T.serial(2):
                    T.copy(C[by*bm,bx*bn],o1)
            T.copy(c0,o1)
            T.copy(o1,C[by*bm,bx*bn])
            T.copy(c1,Z[by*bm,bx*bn])
    return main
CASES.append(('k43',{},['sm_80', 'gfx942']))
def k44():
    M=512;N=512;K=512;bm=64;bn=128;bk=32
    @T.prim_func
    def main(A: T.Tensor((M,K),H), B: T.Tensor((K,N),H), C: T.Tensor((M,N),H), V: T.Tensor((N,),F), X: T.Tensor((64,),'int32'), A32: T.Tensor((M,K),F), Y: T.Tensor((M,),F), Z: T.Tensor((M,N),F)):
        with T.Kernel(N//bn,M//bm,threads=128) as (bx,by):
            a0=T.alloc_shared((bm,bk),H)
            a1=T.alloc_shared((bm,bk),H)
            a2=T.alloc_shared((bm,bk),H)
            b0=T.alloc_shared((bk,bn),H)
            b1=T.alloc_shared((bk,bn),H)
            b2=T.alloc_shared((bk,bn),H)
            o0=T.alloc_shared((bm,bn),H)
            o1=T.alloc_shared((bm,bn),H)
            o2=T.alloc_shared((bm,bn),F)
            v0=T.alloc_shared((bn,),F); v1=T.alloc_shared((bn,),F)
            c0=T.alloc_fragment((bm,bn),F); c1=T.alloc_fragment((bm,bn),F); r0=T.alloc_fragment((bm,),F)
            T.clear(c0); T.clear(c1)
            T.copy(V[bx*bn],v0)
            T.copy(C[by*bm,bx*bn],o1)
            for k0 in T.Pipelined(8,num_stages=0):
                T.copy(C[by*bm,bx*bn],o1)
            if by>1:
                if X[7]>0:
                    T.fill(o0,0)
                T.copy(V[bx*bn],v0)
            else:
                if by>2:
                    T.clear(c1)
                else:
                    T.copy(o1,o0)
            T.copy(A32[by*bm,0*bk],a1)
            T.copy(c0,o1)
            T.copy(o1,C[by*bm,bx*bn])
            T.copy(c1,Z[by*bm,bx*bn])
    return main
CASES.append(('k44',{},['sm_80', 'gfx942']))
def k45():
    M=512;N=512;K=512;bm=64;bn=128;bk=64
    @T.prim_func
    def main(A: T.Tensor((M,K),H), B: T.Tensor((K,N),H), C: T.Tensor((M,N),H), V: T.Tensor((N,),F), X: T.Tensor((64,),'int32'), A32: T.Tensor((M,K),F), Y: T.Tensor((M,),F), Z: T.Tensor((M,N),F)):
        with T.Kernel(N//bn,M//bm,threads=128) as (bx,by):
            a0=T.alloc_shared((bm,bk),H)
            a1=T.alloc_shared((bm,bk),H)
            a2=T.alloc_shared((bm,bk),H)
            b0=T.alloc_shared((bk,bn),H)
            b1=T.alloc_shared((bk,bn),H)
            b2=T.alloc_shared((bk,bn),H)
            o0=T.alloc_shared((bm,bn),H)
            o1=T.alloc_shared((bm,bn),H)
            o2=T.alloc_shared((bm,bn),F)
            v0=T.alloc_shared((bn,),F); v1=T.alloc_shared((bn,),F)
            c0=T.alloc_fragment((bm,bn),F); c1=T.alloc_fragment((bm,bn),F); r0=T.alloc_fragment((bm,),F)
            T.clear(c0); T.clear(c1)
            for k0 in T.serial(2):
                T.copy(A[by*bm,k0*bk],a0)
                T.copy(B[k0*bk,bx*bn],b2)
                T.gemm(a0,b2,c1)
                T.copy(B[k0*bk,bx*bn],b0)
            T.copy(c0,o2)
            T.copy(B[0*bk,bx*bn],b0)
            for k1 in T.serial(8):
                if X[k1]>0:
                    T.copy(A[by*bm,k1*bk],a0)
                    T.copy(B[k1*bk,bx*bn],b2)
                    T.gemm(a0,b2,c0)
                    for i,j in T.Parallel(bm,bn): c1[i,j]+=o2[i,j]
                    T.gemm(a0,b2,c0)
            T.gemm(a0,b0,c0)
            T.gemm(a0,b2,c0)
            T.copy(c0,C[by*bm,bx*bn])
            T.copy(c1,Z[by*bm,bx*bn])
    return main
CASES.append(('k45',{},['sm_80', 'gfx942']))
def k46():
    M=512;N=512;K=512;bm=128;bn=64;bk=16
    @T.prim_func
    def main(A: T.Tensor((M,K),H), B: T.Tensor((K,N),H), C: T.Tensor((M,N),H), V: T.Tensor((N,),F), X: T.Tensor((64,),'int32'), A32: T.Tensor((M,K),F), Y: T.Tensor((M,),F), Z: T.Tensor((M,N),F)):
        with T.Kernel(N//bn,M//bm,threads=256) as (bx,by):
            a0=T.alloc_shared((bm,bk),H)
            a1=T.alloc_shared((bm,bk),H)
            a2=T.alloc_shared((bm,bk),H)
            b0=T.alloc_shared((bk,bn),H)
            b1=T.alloc_shared((bk,bn),H)
            b2=T.alloc_shared((bk,bn),H)
            o0=T.alloc_shared((bm,bn),H)
            o1=T.alloc_shared((bm,bn),H)
            o2=T.alloc_shared((bm,bn),F)
            v0=T.alloc_shared((bn,),F); v1=T.alloc_shared((bn,),F)
            c0=T.alloc_fragment((bm,bn),F); c1=T.alloc_fragment((bm,bn),F); r0=T.alloc_fragment((bm,),F)
            T.clear(c0); T.clear(c1)
            T.copy(B[0*bk,bx*bn],b2)
            for i,j in T.Parallel(bm,bk): a2[i,j]=A[by*bm+i,0*bk+j]
            for k0 in T.serial(4):
                T.copy(A[by*bm,k0*bk],a2)
                T.copy(B[k0*bk,bx*bn],b0)
                T.gemm(a2,b0,c0)
            T.copy(B[0*bk,bx*bn],b0)
            T.copy(c0,o1)
            T.copy(o1,C[by*bm,bx*bn])
            T.copy(c1,Z[by*bm,bx*bn])
    return main
CASES.append(('k46',{},['sm_80', 'gfx942']))
def k47():
    M=512;N=512;K=512;bm=128;bn=32;bk=32
    @T.prim_func
    def main(A: T.Tensor((M,K),H), B: T.Tensor((K,N),H), C: T.Tensor((M,N),H), V: T.Tensor((N,),F), X: T.Tensor((64,),'int32'), A32: T.Tensor((M,K),F), Y: T.Tensor((M,),F), Z: T.Tensor((M,N),F)):
        with T.Kernel(N//bn,M//bm,threads=128) as (bx,by):
            a0=T.alloc_shared((bm,bk),H)
            a1=T.alloc_shared((bm,bk),H)
            a2=T.alloc_shared((bm,bk),H)
            b0=T.alloc_shared((bk,bn),H)
            b1=T.alloc_shared((bk,bn),H)
            b2=T.alloc_shared((bk,bn),H)
            o0=T.alloc_shared((bm,bn),H)
            o1=T.alloc_shared((bm,bn),H)
            o2=T.alloc_shared((bm,bn),F)
            v0=T.alloc_shared((bn,),F); v1=T.alloc_shared((bn,),F)
            c0=T.alloc_fragment((bm,bn),F); c1=T.alloc_fragment((bm,bn),F); r0=T.alloc_fragment((bm,),F)
            T.clear(c0); T.clear(c1)
            for k0 in T.Pipelined(8,num_stages=2):
                T.copy(A32[by*bm,k0*bk],a2)
            for k1 in T.Pipelined(2,num_stages=2):
                for k2 in T.serial(8):
                    T.copy(A[by*bm,k2*bk],a1)
                    T.copy(B[k2*bk,bx*bn],b2)
                    T.gemm(a1,b2,c0)
            if X[1]>0:
                T.copy(B[0*bk,bx*bn],b1)
            T.copy(A[by*bm,0*bk],a0)
            for k3 in T.Pipelined(8,num_stages=0):
                T.copy(A[by*bm,k3*bk],a0)
                T.copy(B[k3*bk,bx*bn],b1)
                T.copy(V[bx*bn],v0)
                T.gemm(a0,b1,c0)
            if X[2]>0:
                T.gemm(a1,b2,c0)
            T.copy(c0,o1)
            T.copy(o1,C[by*bm,bx*bn])
            T.copy(c1,Z[by*bm,bx*bn])
    return main
CASES.append(('k47',{},['sm_80', 'sm_90']))
def k48():
    M=512;N=512;K=512;bm=32;bn=64;bk=64
    @T.prim_func
    def main(A: T.Tensor((M,K),H), B: T.Tensor((K,N),H), C: T.Tensor((M,N),H), V: T.Tensor((N,),F), X: T.Tensor((64,),'int32'), A32: T.Tensor((M,K),F), Y: T.Tensor((M,),F), Z: T.Tensor((M,N),F)):
        with T.Kernel(N//bn,M//bm,threads=256) as (bx,by):
            a0=T.alloc_shared((bm,bk),H)
            a1=T.alloc_shared((bm,bk),H)
            a2=T.alloc_shared((bm,bk),H)
            b0=T.alloc_shared((bk,bn),H)
            b1=T.alloc_shared((bk,bn),H)
            b2=T.alloc_shared((bk,bn),H)
            o0=T.alloc_shared((bm,bn),H)
            o1=T.alloc_shared((bm,bn),H)
            o2=T.alloc_shared((bm,bn),F)
            v0=T.alloc_shared((bn,),F); v1=T.alloc_shared((bn,),F)
            c0=T.alloc_fragment((bm,bn),F); c1=T.alloc_fragment((bm,bn),F); r0=T.alloc_fragment((bm,),F)
            T.clear(c0); T.clear(c1)
            T.copy(C[by*bm,bx*bn],o1)
            for k0 in T.Pipelined(2,num_stages=1):
                T.copy(A[by*bm,k0*bk],a0)
                T.copy(B[k0*bk,bx*bn],b2)
                T.gemm(a0,b2,c0)
            T.fill(o0,0)
            for k1 in T.Pipelined(4,num_stages=4):
                for k2 in T.serial(8):
                    T.gemm(a0,b2,c0)
                    T.gemm(a0,b2,c0)
            T.copy(o0,o1)
            T.copy(B[0*bk,bx*bn],b2)
            T.copy(c0,C[by*bm,bx*bn])
            T.copy(c1,Z[by*bm,bx*bn])
    return main
CASES.append(('k48',{},['sm_90', 'gfx950']))
def k49():
    M=512;N=512;K=512;bm=128;bn=64;bk=64
    @T.prim_func
    def main(A: T.Tensor((M,K),H), B: T.Tensor((K,N),H), C: T.Tensor((M,N),H), V: T.Tensor((N,),F), X: T.Tensor((64,),'int32'), A32: T.Tensor((M,K),F), Y: T.Tensor((M,),F), Z: T.Tensor((M,N),F)):
        with T.Kernel(N//bn,M//bm,threads=128) as (bx,by):
            a0=T.alloc_shared((bm,bk),H)
            a1=T.alloc_shared((bm,bk),H)
            a2=T.alloc_shared((bm,bk),H)
            b0=T.alloc_shared((bk,bn),H)
            b1=T.alloc_shared((bk,bn),H)
            b2=T.alloc_shared((bk,bn),H)
            o0=T.alloc_shared((bm,bn),H)
            o1=T.alloc_shared((bm,bn),H)
            o2=T.alloc_shared((bm,bn),F)
            v0=T.alloc_shared((bn,),F); v1=T.alloc_shared((bn,),F)
            c0=T.alloc_fragment((bm,bn),F); c1=T.alloc_fragment((bm,bn),F); r0=T.alloc_fragment((bm,),F)
            T.clear(c0); T.clear(c1)
            for k0 in T.unroll(3,explicit=True):
                T.copy(C[by*bm,bx*bn],o1)
                T.copy(A[by*bm,k0*bk],a1)
                T.copy(A[by*bm,k0*bk],a0)
            if by>1:
                T.copy(B[0*bk,bx*bn],b0)
                T.copy(V[bx*bn],v0)
            for k1 in T.Pipelined(8,num_stages=1):
                T.fill(o0,0)
            for k2 in T.Pipelined(8,num_stages=2):
                T.copy(A[by*bm,k2*bk],a1)
                T.copy(B[k2*bk,bx*bn],b1)
                T.gemm(a1,b1,c0)
            T.copy(c0,C[by*bm,bx*bn])
            T.copy(c1,Z[by*bm,bx*bn])
    return main
CASES.append(('k49',{},['sm_80', 'sm_90']))
def k50():
    M=512;N=512;K=512;bm=64;bn=64;bk=64
    @T.prim_func
    def main(A: T.Tensor((M,K),H), B: T.Tensor((K,N),H), C: T.Tensor((M,N),H), V: T.Tensor((N,),F), X: T.Tensor((64,),'int32'), A32: T.Tensor((M,K),F), Y: T.Tensor((M,),F), Z: T.Tensor((M,N),F)):
        with T.Kernel(N//bn,M//bm,threads=128) as (bx,by):
            a0=T.alloc_shared((bm,bk),H)
            a1=T.alloc_shared((bm,bk),H)
            a2=T.alloc_shared((bm,bk),H)
            b0=T.alloc_shared((bk,bn),H)
            b1=T.alloc_shared((bk,bn),H)
            b2=T.alloc_shared((bk,bn),H)
            o0=T.alloc_shared((bm,bn),H)
            o1=T.alloc_shared((bm,bn),H)
            o2=T.alloc_shared((bm,bn),F)
            v0=T.alloc_shared((bn,),F); v1=T.alloc_shared((bn,),F)
            c0=T.alloc_fragment((bm,bn),F); c1=T.alloc_fragment((bm,bn),F); r0=T.alloc_fragment((bm,),F)
            T.clear(c0); T.clear(c1)
            for k0 in T.unroll(3,explicit=True):
                T.copy(A[by*bm,k0*bk],a1)
                T.copy(B[k0*bk,bx*bn],b2)
                T.gemm(a1,b2,c0)
                if by>0:
                    T.copy(A[by*bm,k0*bk],a0)
                    T.copy(V[bx*bn],v0)
            T.copy(B[0*bk,bx*bn],b0)
            T.copy(C[by*bm,bx*bn],o1)
            for k1 in T.Pipelined(2,num_stages=1):
                T.copy(A[by*bm,k1*bk],a2)
                T.copy(B[k1*bk,bx*bn],b2)
                T.gemm(a2,b2,c1)
                T.copy(c1,o2)
                for k2 in T.serial(8):
                    T.fill(o0,0)
                    T.copy(A[by*bm,k2*bk],a1)
            T.copy(A[by*bm,0*bk],a2)
            for k3 in T.Pipelined(8,num_stages=0):
                T.copy(A[by*bm,k3*bk],a1)
                T.copy(B[k3*bk,bx*bn],b1)
                T.gemm(a1,b1,c1)
                T.gemm(a1,b1,c0)
            T.copy(B[0*bk,bx*bn],b1)
            T.gemm(a0,b2,c0)
            T.copy(c0,o1)
            T.copy(o1,C[by*bm,bx*bn])
            T.copy(c1,Z[by*bm,bx*bn])
    return main
CASES.append(('k50',{},['sm_80', 'gfx942']))
def k51():
    M=512;N=512;K=512;bm=128;bn=64;bk=64
    @T.prim_func
    def main(A: T.Tensor((M,K),H), B: T.Tensor((K,N),H), C: T.Tensor((M,N),H), V: T.Tensor((N,),F), X: T.Tensor((64,),'int32'), A32: T.Tensor((M,K),F), Y: T.Tensor((M,),F), Z: T.Tensor((M,N),F)):
        with T.Kernel(N//bn,M//bm,threads=256) as (bx,by):
            a0=T.alloc_shared((bm,bk),H)
            a1=T.alloc_shared((bm,bk),H)
            a2=T.alloc_shared((bm,bk),H)
            b0=T.alloc_shared((bk,bn),H)
            b1=T.alloc_shared((bk,bn),H)
            b2=T.alloc_shared((bk,bn),H)
            o0=T.alloc_shared((bm,bn),H)
            o1=T.alloc_shared((bm,bn),H)
            o2=T.alloc_shared((bm,bn),F)
            v0=T.alloc_shared((bn,),F); v1=T.alloc_shared((bn,),F)
            c0=T.alloc_fragment((bm,bn),F); c1=T.alloc_fragment((bm,bn),F); r0=T.alloc_fragment((bm,),F)
            T.clear(c0); T.clear(c1)
            T.copy(V[bx*bn],v0)
            for k0 in T.Pipelined(2,num_stages=1):
                T.copy(A[by*bm,k0*bk],a0)
                T.copy(B[k0*bk,bx*bn],b1)
                T.gemm(a0,b1,c0)
                T.fill(o1,0)
            T.copy(A[by*bm,0*bk],a2)
            for k1 in T.Pipelined(4,num_stages=3):
                T.copy(B[k1*bk,bx*bn],b2)
                T.gemm(a0,b1,c0)
                T.fill(o0,0)
                T.copy(c1,o1)
            T.copy(B[0*bk,bx*bn],b2)
            T.copy(c0,o1)
            T.copy(o1,C[by*bm,bx*bn])
            T.copy(c1,Z[by*bm,bx*bn])
    return main
CASES.append(('k51',{},['sm_90', 'gfx950']))
def k52():
    M=512;N=512;K=512;bm=64;bn=64;bk=64
    @T.prim_func
    def main(A: T.Tensor((M,K),H), B: T.Tensor((K,N),H), C: T.Tensor((M,N),H), V: T.Tensor((N,),F), X: T.Tensor((64,),'int32'), A32: T.Tensor((M,K),F), Y: T.Tensor((M,),F), Z: T.Tensor((M,N),F)):
        with T.Kernel(N//bn,M//bm,threads=256) as (bx,by):
            a0=T.alloc_shared((bm,bk),H)
            a1=T.alloc_shared((bm,bk),H)
            a2=T.alloc_shared((bm,bk),H)
            b0=T.alloc_shared((bk,bn),H)
            b1=T.alloc_shared((bk,bn),H)
            b2=T.alloc_shared((bk,bn),H)
            o0=T.alloc_shared((bm,bn),H)
            o1=T.alloc_shared((bm,bn),H)
            o2=T.alloc_shared((bm,bn),F)
            v0=T.alloc_shared((bn,),F); v1=T.alloc_shared((bn,),F)
            c0=T.alloc_fragment((bm,bn),F); c1=T.alloc_fragment((bm,bn),F); r0=T.alloc_fragment((bm,),F)
            T.clear(c0); T.clear(c1)
            for k0 in T.serial(3):
                if X[k0]>0:
                    T.copy(A[by*bm,k0*bk],a2)
                    T.copy(B[k0*bk,bx*bn],b1)
                    T.gemm(a2,b1,c0)
                    T.reduce_max(c0,r0,dim=1)
                    T.copy(r0,Y[by*bm])
            T.reduce_max(c0,r0,dim=1)
            T.copy(r0,Y[by*bm])
            T.copy(A[by*bm,0*bk],a2)
            T.copy(c0,C[by*bm,bx*bn])
            T.copy(c1,Z[by*bm,bx*bn])
    return main
CASES.append(('k52',{},['sm_80', 'sm_90']))
def k53():
    M=512;N=512;K=512;bm=32;bn=32;bk=16
    @T.prim_func
    def main(A: T.Tensor((M,K),H), B: T.Tensor((K,N),H), C: T.Tensor((M,N),H), V: T.Tensor((N,),F), X: T.Tensor((64,),'int32'), A32: T.Tensor((M,K),F), Y: T.Tensor((M,),F), Z: T.Tensor((M,N),F)):
        with T.Kernel(N//bn,M//bm,threads=128) as (bx,by):
            a0=T.alloc_shared((bm,bk),H)
            a1=T.alloc_shared((bm,bk),H)
            a2=T.alloc_shared((bm,bk),H)
            b0=T.alloc_shared((bk,bn),H)
            b1=T.alloc_shared((bk,bn),H)
            b2=T.alloc_shared((bk,bn),H)
            o0=T.alloc_shared((bm,bn),H)
            o1=T.alloc_shared((bm,bn),H)
            o2=T.alloc_shared((bm,bn),F)
            v0=T.alloc_shared((bn,),F); v1=T.alloc_shared((bn,),F)
            c0=T.alloc_fragment((bm,bn),F); c1=T.alloc_fragment((bm,bn),F); r0=T.alloc_fragment((bm,),F)
            T.clear(c0); T.clear(c1)
            for k0 in T.unroll(3,explicit=True):
                T.copy(A[by*bm,k0*bk],a0)
                T.copy(B[k0*bk,bx*bn],b0)
                T.gemm(a0,b0,c1)
                T.reduce_max(c0,r0,dim=1)
            for k1 in T.Pipelined(8,num_stages=3):
                T.copy(A[by*bm,k1*bk],a0)
                T.copy(B[k1*bk,bx*bn],b2)
                T.gemm(a0,b2,c0)
            T.copy(c0,C[by*bm,bx*bn])
            T.copy(c1,Z[by*bm,bx*bn])
    return main
CASES.append(('k53',{},['sm_90', 'sm_100a']))
def k54():
    M=512;N=512;K=512;bm=128;bn=64;bk=32
    @T.prim_func
    def main(A: T.Tensor((M,K),H), B: T.Tensor((K,N),H), C: T.Tensor((M,N),H), V: T.Tensor((N,),F), X: T.Tensor((64,),'int32'), A32: T.Tensor((M,K),F), Y: T.Tensor((M,),F), Z: T.Tensor((M,N),F)):
        with T.Kernel(N//bn,M//bm,threads=256) as (bx,by):
            a0=T.alloc_shared((bm,bk),H)
            a1=T.alloc_shared((bm,bk),H)
            a2=T.alloc_shared((bm,bk),H)
            b0=T.alloc_shared((bk,bn),H)
            b1=T.alloc_shared((bk,bn),H)
            b2=T.alloc_shared((bk,bn),H)
            o0=T.alloc_shared((bm,bn),H)
            o1=T.alloc_shared((bm,bn),H)
            o2=T.alloc_shared((bm,bn),F)
            v0=T.alloc_shared((bn,),F); v1=T.alloc_shared((bn,),F)
            c0=T.alloc_fragment((bm,bn),F); c1=T.alloc_fragment((bm,bn),F); r0=T.alloc_fragment((bm,),F)
            T.clear(c0); T.clear(c1)
            T.reduce_max(c0,r0,dim=1)
            T.copy(r0,Y[by*bm])
            for k0 in T.Pipelined(4,num_stages=0):
                T.reduce_max(c0,r0,dim=1)
                T.copy(c0,o2)
                T.fill(o1,0)
                for i,j in T.Parallel(bm,bn): c0[i,j]+=o1[i,j]
            T.copy(A[by*bm,0*bk],a2)
            for k1 in T.unroll(2,explicit=True):
                T.copy(A[by*bm,k1*bk],a2)
                T.copy(B[k1*bk,bx*bn],b2)
                T.gemm(a2,b2,c0)
                for i,j in T.Parallel(bm,bk): a1[i,j]=A[by*bm+i,k1*bk+j]
                T.copy(c0,o0)
                T.copy(o0,C[by*bm,bx*bn])
            T.copy(V[bx*bn],v0)
            T.gemm(a1,b2,c0)
            T.copy(c0,o1)
            T.copy(o1,C[by*bm,bx*bn])
            T.copy(c1,Z[by*bm,bx*bn])
    return main
CASES.append(('k54',{},['sm_90', 'sm_100a']))
def k55():
    M=512;N=512;K=512;bm=64;bn=64;bk=16
    @T.prim_func
    def main(A: T.Tensor((M,K),H), B: T.Tensor((K,N),H), C: T.Tensor((M,N),H), V: T.Tensor((N,),F), X: T.Tensor((64,),'int32'), A32: T.Tensor((M,K),F), Y: T.Tensor((M,),F), Z: T.Tensor((M,N),F)):
        with T.Kernel(N//bn,M//bm,threads=256) as (bx,by):
            a0=T.alloc_shared((bm,bk),H)
            a1=T.alloc_shared((bm,bk),H)
            a2=T.alloc_shared((bm,bk),H)
            b0=T.alloc_shared((bk,bn),H)
            b1=T.alloc_shared((bk,bn),H)
            b2=T.alloc_shared((bk,bn),H)
            o0=T.alloc_shared((bm,bn),H)
            o1=T.alloc_shared((bm,bn),H)
            o2=T.alloc_shared((bm,bn),F)
            v0=T.alloc_shared((bn,),F); v1=T.alloc_shared((bn,),F)
            c0=T.alloc_fragment((bm,bn),F); c1=T.alloc_fragment((bm,bn),F); r0=T.alloc_fragment((bm,),F)
            T.clear(c0); T.clear(c1)
            for k0 in T.serial(3):
                T.copy(A[by*bm,k0*bk],a0)
                T.copy(B[k0*bk,bx*bn],b0)
                T.gemm(a0,b0,c1)
                T.copy(A[by*bm,k0*bk],a2)
                T.copy(C[by*bm,bx*bn],o1)
            T.gemm(a0,b0,c0)
            T.fill(o1,0)
            for k1 in T.Pipelined(3,num_stages=2):
                T.copy(A[by*bm,k1*bk],a0)
                T.copy(B[k1*bk,bx*bn],b1)
                T.gemm(a0,b1,c0)
            for k2 in T.Pipelined(8,num_stages=1):
                T.copy(A[by*bm,k2*bk],a1)
                T.copy(B[k2*bk,bx*bn],b2)
                T.gemm(a1,b2,c0)
                T.copy(c0,o2)
                T.gemm(a2,b2,c0)
            T.copy(A[by*bm,0*bk],a0)
            T.copy(A[by*bm,0*bk],a0)
            T.copy(c0,C[by*bm,bx*bn])
            T.copy(c1,Z[by*bm,bx*bn])
    return main
CASES.append(('k55',{},['sm_80', 'gfx942']))
def k56():
    M=512;N=512;K=512;bm=64;bn=64;bk=32
    @T.prim_func
    def main(A: T.Tensor((M,K),H), B: T.Tensor((K,N),H), C: T.Tensor((M,N),H), V: T.Tensor((N,),F), X: T.Tensor((64,),'int32'), A32: T.Tensor((M,K),F), Y: T.Tensor((M,),F), Z: T.Tensor((M,N),F)):
        with T.Kernel(N//bn,M//bm,threads=256) as (bx,by):
            a0=T.alloc_shared((bm,bk),H)
            a1=T.alloc_shared((bm,bk),H)
            a2=T.alloc_shared((bm,bk),H)
            b0=T.alloc_shared((bk,bn),H)
            b1=T.alloc_shared((bk,bn),H)
            b2=T.alloc_shared((bk,bn),H)
            o0=T.alloc_shared((bm,bn),H)
            o1=T.alloc_shared((bm,bn),H)
            o2=T.alloc_shared((bm,bn),F)
            v0=T.alloc_shared((bn,),F); v1=T.alloc_shared((bn,),F)
            c0=T.alloc_fragment((bm,bn),F); c1=T.alloc_fragment((bm,bn),F); r0=T.alloc_fragment((bm,),F)
            T.clear(c0); T.clear(c1)
            for k0 in T.serial(8):
                T.copy(A[by*bm,k0*bk],a2)
                T.copy(B[k0*bk,bx*bn],b2)
                T.gemm(a2,b2,c0)
                T.copy(V[bx*bn],v0)
                for k1 in T.Pipelined(8,num_stages=2):
                    T.copy(B[k1*bk,bx*bn],b1)
                    T.reduce_max(c0,r0,dim=1)
                    T.copy(C[by*bm,bx*bn],o1)
                    T.copy(A[by*bm,k1*bk],a0)
            T.fill(o1,0)
            for k2 in T.serial(2):
                T.copy(A[by*bm,k2*bk],a2)
                T.copy(B[k2*bk,bx*bn],b0)
                T.gemm(a2,b0,c1)
            T.copy(A[by*bm,0*bk],a0)
            T.gemm(a0,b1,c1)
            T.copy(c0,o1)
            T.copy(o1,C[by*bm,bx*bn])
            T.copy(c1,Z[by*bm,bx*bn])
    return main
CASES.append(('k56',{},['sm_80', 'gfx942']))
def k57():
    M=512;N=512;K=512;bm=64;bn=32;bk=32
    @T.prim_func
    def main(A: T.Tensor((M,K),H), B: T.Tensor((K,N),H), C: T.Tensor((M,N),H), V: T.Tensor((N,),F), X: T.Tensor((64,),'int32'), A32: T.Tensor((M,K),F), Y: T.Tensor((M,),F), Z: T.Tensor((M,N),F)):
        with T.Kernel(N//bn,M//bm,threads=128) as (bx,by):
            a0=T.alloc_shared((bm,bk),H)
            a1=T.alloc_shared((bm,bk),H)
            a2=T.alloc_shared((bm,bk),H)
            b0=T.alloc_shared((bk,bn),H)
            b1=T.alloc_shared((bk,bn),H)
            b2=T.alloc_shared((bk,bn),H)
            o0=T.alloc_shared((bm,bn),H)
            o1=T.alloc_shared((bm,bn),H)
            o2=T.alloc_shared((bm,bn),F)
            v0=T.alloc_shared((bn,),F); v1=T.alloc_shared((bn,),F)
            c0=T.alloc_fragment((bm,bn),F); c1=T.alloc_fragment((bm,bn),F); r0=T.alloc_fragment((bm,),F)
            T.clear(c0); T.clear(c1)
            for k0 in T.Pipelined(8,num_stages=2):
                T.copy(A[by*bm,k0*bk],a2)
                T.copy(V[bx*bn],v0)
                T.copy(B[k0*bk,bx*bn],b2)
                T.gemm(a2,b2,c0)
                T.copy(B[k0*bk,bx*bn],b2)
            T.copy(c0,o1)
            T.copy(o1,C[by*bm,bx*bn])
            T.copy(c1,Z[by*bm,bx*bn])
    return main
CASES.append(('k57',{},['sm_90', 'sm_100a']))
def k58():
    M=512;N=512;K=512;bm=128;bn=64;bk=64
    @T.prim_func
    def main(A: T.Tensor((M,K),H), B: T.Tensor((K,N),H), C: T.Tensor((M,N),H), V: T.Tensor((N,),F), X: T.Tensor((64,),'int32'), A32: T.Tensor((M,K),F), Y: T.Tensor((M,),F), Z: T.Tensor((M,N),F)):
        with T.Kernel(N//bn,M//bm,threads=128) as (bx,by):
            a0=T.alloc_shared((bm,bk),H)
            a1=T.alloc_shared((bm,bk),H)
            a2=T.alloc_shared((bm,bk),H)
            b0=T.alloc_shared((bk,bn),H)
            b1=T.alloc_shared((bk,bn),H)
            b2=T.alloc_shared((bk,bn),H)
            o0=T.alloc_shared((bm,bn),H)
            o1=T.alloc_shared((bm,bn),H)
            o2=T.alloc_shared((bm,bn),F)
            v0=T.alloc_shared((bn,),F); v1=T.alloc_shared((bn,),F)
            c0=T.alloc_fragment((bm,bn),F); c1=T.alloc_fragment((bm,bn),F); r0=T.alloc_fragment((bm,),F)
            T.clear(c0); T.clear(c1)
            for k0 in T.Pipelined(2,num_stages=4):
                if X[k0]>0:
                    T.copy(A[by*bm,k0*bk],a0)
                    T.copy(B[k0*bk,bx*bn],b0)
                    T.gemm(a0,b0,c0)
            T.reduce_sum(c1,r0,dim=1)
            T.copy(r0,Y[by*bm])
            for k1 in T.Pipelined(8,num_stages=2):
                T.copy(A[by*bm,k1*bk],a2)
                T.copy(V[bx*bn],v0)
                T.copy(B[k1*bk,bx*bn],b2)
                T.gemm(a2,b2,c1)
            T.copy(C[by*bm,bx*bn],o0)
            for k2 in T.Pipelined(2,num_stages=2):
                for i,j in T.Parallel(bm,bn): c0[i,j]+=v0[j]
                for i,j in T.Parallel(bm,bn): c1[i,j]+=v0[j]
                T.copy(A[by*bm,k2*bk],a0)
            T.copy(c0,o1)
            T.copy(o1,C[by*bm,bx*bn])
            T.copy(c1,Z[by*bm,bx*bn])
    return main
CASES.append(('k58',{},['sm_80', 'sm_90']))
def k59():
    M=512;N=512;K=512;bm=128;bn=32;bk=32
    @T.prim_func
    def main(A: T.Tensor((M,K),H), B: T.Tensor((K,N),H), C: T.Tensor((M,N),H), V: T.Tensor((N,),F), X: T.Tensor((64,),'int32'), A32: T.Tensor((M,K),F), Y: T.Tensor((M,),F), Z: T.Tensor((M,N),F)):
        with T.Kernel(N//bn,M//bm,threads=128) as (bx,by):
            a0=T.alloc_shared((bm,bk),H)
            a1=T.alloc_shared((bm,bk),H)
            a2=T.alloc_shared((bm,bk),H)
            b0=T.alloc_shared((bk,bn),H)
            b1=T.alloc_shared((bk,bn),H)
            b2=T.alloc_shared((bk,bn),H)
            o0=T.alloc_shared((bm,bn),H)
            o1=T.alloc_shared((bm,bn),H)
            o2=T.alloc_shared((bm,bn),F)
            v0=T.alloc_shared((bn,),F); v1=T.alloc_shared((bn,),F)
            c0=T.alloc_fragment((bm,bn),F); c1=T.alloc_fragment((bm,bn),F); r0=T.alloc_fragment((bm,),F)
            T.clear(c0); T.clear(c1)
            for k0 in T.Pipelined(2,num_stages=1):
                T.copy(A[by*bm,k0*bk],a0)
                T.copy(B[k0*bk,bx*bn],b1)
                T.gemm(a0,b1,c0)
            T.copy(V[bx*bn],v1)
            for k1 in T.Pipelined(8,num_stages=2):
                T.copy(A[by*bm,k1*bk],a0)
                T.copy(B[k1*bk,bx*bn],b2)
                T.gemm(a0,b2,c0)
            T.copy(c0,o1)
            T.copy(o1,C[by*bm,bx*bn])
            T.copy(c1,Z[by*bm,bx*bn])
    return main
CASES.append(('k59',{},['sm_80', 'sm_90']))
