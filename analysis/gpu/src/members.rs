//! Members of Triton's language modules: those of Triton 3.8 and 3.9, of the TLX plugin, and of Meta's fork (September 2026). Other versions may have
//! more, so that a member which is not here counts as a slip only where it is almost one that is.

use std::sync::LazyLock;

/// Of `triton.language`.
const TL: &str = "
    ClcTileScheduler CompositeReductionOrdering DynamicPersistent1DScheduler NVMMASharedLayout NonPersistentScheduler PaddedSharedLayout
    PropagateNan ReductionOrdering ReductionOrderingBase StaticPersistent1DScheduler SwizzledSharedLayout TRITON_MAX_TENSOR_NUMEL TileScheduler
    abs add advance aggregate_replace amd_tensor_descriptor_type arange argmax argmin associative_scan assume async_task async_tasks atomic_add
    atomic_and atomic_cas atomic_load atomic_max atomic_min atomic_or atomic_poll atomic_store atomic_xchg atomic_xor bfloat16 bitonic_merge
    block block_shape block_type broadcast broadcast_to cast cat cdiv ceil clamp clc clc_tile_scheduler condition const constexpr constexpr_type
    core cos cumprod cumsum debug_barrier device_assert device_print div_rn dot dot_scaled dtype erf exp exp2 expand_dims expect_zero extra fdiv
    fields flip float16 float32 float64 float8e4b15 float8e4b8 float8e4nv float8e5 float8e5b16 floor fma full gather histogram
    inline_asm_elementwise inner int1 int16 int32 int64 int8 interleave is_gluon is_im2col join layout layout_str load load_tensor_descriptor
    log log2 make_block_ptr make_tensor_descriptor map_elementwise math max max_constancy max_contiguous maximum min minimum mul multiple_of
    name ndim num_programs nv_tma_desc_type nvidia_tensor_descriptor_im2col_type nvidia_tensor_descriptor_type pair_uniform_to_normal permute
    philox philox_impl pi32_t pointer_type program_id rand rand4x randint randint4x randn randn4x random range rank_match ravel reduce reduce_or
    reshape rest rsqrt schedule semantic shape_type sigmoid sin slice softmax sort split sqrt sqrt_rn squeeze standard static_assert
    static_print static_range store store_tensor_descriptor str_to_ty stride_type sub sum swizzle2d target_info tensor tensor_descriptor
    tensor_descriptor_type tensor_rank to_tensor topk trans tuple tuple_type ty tys uint16 uint32 uint64 uint8 uint_to_uniform_float umulhi
    unsqueeze view void where xor_sum zeros zeros_like
";

/// Of `triton.experimental.gluon.language`.
const GL: &str = "
    AutoLayout BlockedLayout CachePolicy CoalescedLayout DistributedLinearLayout DotOperandLayout NVMMADistributedLayout NVMMASharedLayout
    PaddedSharedLayout SharedLinearLayout SliceLayout SwizzledSharedLayout abs add aggregate_replace allocate_shared_memory amd arange
    associative_scan assume atomic_add atomic_and atomic_cas atomic_load atomic_max atomic_min atomic_or atomic_poll atomic_store atomic_xchg
    atomic_xor bank_conflicts barrier base_type base_value bfloat16 block_type broadcast cast cdiv ceil clamp constexpr convert_layout cos
    cumprod cumsum device_assert device_print distributed_type div_rn dot_fma dtype erf exp exp2 expand_dims expect_zero extra fdiv float16
    float32 float64 float8e4b15 float8e4b8 float8e4nv float8e5 float8e5b16 floor fma fp4_to_fp fpsan full full_like gather histogram inline_asm
    inline_asm_elementwise int1 int16 int32 int64 int8 join load log log2 map_elementwise max max_constancy max_contiguous maximum min minimum
    mul multiple_of num_ctas num_programs num_warps nvidia permute pointer_type program_id ravel reduce reduce_or reshape rsqrt set_auto_layout
    shared_memory_descriptor shared_memory_descriptor_type sin split sqrt sqrt_rn static_assert static_print static_range store sub sum tensor
    to_linear_layout to_tensor tuple tuple_type uint16 uint32 uint64 uint8 umulhi void warp_specialize where xor_sum zeros zeros_like
";

/// Of `triton.language.extra.tlx`.
const TLX: &str = "
    CLCPipelineContext CLCPipeliner DummyRegisterLayoutEncoding DummyTMEMLayoutEncoding SUPPORTS_MULTI_CTA TMemCTAMode alloc_barriers
    alloc_warp_barrier allocate_tensor_descriptor amd_descriptor_prefetch_tensor amd_iglp_opt amd_mfma_commit amd_mfma_layout amd_ops
    amd_register_class_anchor amd_register_handoff amd_register_resident amd_sched_barrier amd_scheduled_mfma assert_same_layout assume_uniform
    async_amd_descriptor_load async_amd_descriptor_load_fused async_amd_descriptor_store async_amd_descriptor_wait async_descriptor_load
    async_descriptor_prefetch_tensor async_descriptor_store async_descriptor_store_wait async_dot async_dot_scaled async_dot_wait async_load
    async_load_commit_group async_load_wait_group async_remote_shmem_copy async_remote_shmem_store async_store async_task async_task_replica_id
    async_task_utils async_tasks async_token barrier barrier_arrive barrier_expect_bytes barrier_wait buffer_atomic_add buffer_load
    buffer_load_to_local buffer_store buffered_tensor buffered_tensor_type clc_consumer clc_create_context clc_producer clc_response
    clc_response_type clock64 cluster_barrier cluster_cta_rank cluster_size_1d compiler custom_stages dot_operand_layout dot_scaled dtype_of
    dump_layout dynamic_launch extract_slice fence fence_async_shared fence_mbarrier_init_cluster get_fp8_format_name hw inductor
    install_semantic is_hip knobs layout layout_compat layout_encoding layout_ops local_alloc local_gather local_load local_reinterpret
    local_reshape local_scatter local_slice local_store local_trans local_view make_tensor_descriptor mbarrier mbarrier_type mem_ops mma_ops
    mxfp8_utils named_barrier_arrive named_barrier_wait num_warps nv_mma_shared_layout_encoding padded_shared_layout_encoding prefetch
    reinterpret_tensor_descriptor release_layout rematerialized_range remote_shmem_store remote_view require_amd_wmma_layout require_layout
    reuse_group reuse_group_ir_type reuse_group_type shared_layout_encoding shared_linear_layout_encoding size_of slice_layout stoch_round
    storage_alias_spec storage_alias_spec_type storage_alias_spec_type_class storage_kind subslice swizzled_layout
    swizzled_shared_layout_encoding tcgen05_commit tensor_descriptor_ptr tensor_descriptor_ptr_type tensor_memory_layout_encoding
    tensor_memory_scales_layout_encoding thread_id tmem_copy tutorials types update_tensor_descriptor utility vote_ballot_sync warp_any warp_ops
    warp_pipeline warp_pipeline_stage warp_predicate warp_redux warp_spec zeros
";

/// Block pointers, which Triton 3.9 has removed.
pub(crate) const BLOCK_POINTERS: [&str; 2] = ["make_block_ptr", "advance"];

/// Members of `triton.language` that some other version has.
const ELSEWHERE: [&str; 6] = [
    "ClcTileScheduler",
    "DynamicPersistent1DScheduler",
    "NonPersistentScheduler",
    "StaticPersistent1DScheduler",
    "async_task",
    "async_tasks",
];

/// Whether Triton 3.9 has a member of `triton.language`, as `hasattr` asks; `None` where it is not known. It has none that begin with `_`: what was tried
/// out under such a name has another one by now.
pub(crate) fn is_of_language(member: &str) -> Option<bool> {
    if BLOCK_POINTERS.contains(&member) {
        return Some(false);
    }
    match member.starts_with('_') {
        true => (!member.starts_with("__")).then_some(false),
        false => (!ELSEWHERE.contains(&member) && of("tl")?.any(|known| known == member)).then_some(true),
    }
}

/// Whether a module has a member; `None` where that is not known.
pub fn has(module: &str, member: &str) -> Option<bool> {
    (module == "triton.language").then(|| is_of_language(member))?
}

/// The members of a module by its usual name (`tl`, `gl`, `tlx`).
pub fn of(module: &str) -> Option<impl Iterator<Item = &'static str> + use<>> {
    // Every name of every kernel is looked up here.
    static MODULES: LazyLock<[(&str, Vec<&str>); 3]> = LazyLock::new(|| {
        [("tl", TL), ("gl", GL), ("tlx", TLX)].map(|(name, all)| (name, all.split_whitespace().collect()))
    });
    let (_, members) = MODULES.iter().find(|(name, _)| *name == module)?;
    Some(members.iter().copied())
}
