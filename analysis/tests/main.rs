//! What the analysis says of kernels of all languages, through its public interface.

mod ascend;
mod assumed;
mod classes;
mod configurations;
mod conformance_pypto;
mod demands;
mod dumps;
mod element_types;
mod elsewhere;
mod generated;
mod gpu_scenarios;
mod launched;
mod limits;
mod lowering;
mod possible;
mod pypto;
mod recorded;
mod refused;
mod scopes;
mod specialised;
mod tilelang;
mod tlx;
mod triton;
mod triton_plans;
mod triton_scratch;
