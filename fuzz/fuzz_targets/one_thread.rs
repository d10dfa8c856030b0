//! Where inputs are read: on the fuzzer's own thread.

/// Makes the calling thread the only thread of the pool. Inputs are short: waking another thread takes longer than
/// reading them.
pub fn enter() {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).use_current_thread();
    pool.build_global().expect("nothing used the pool before");
}
