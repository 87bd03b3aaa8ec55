//! What a follower says of itself at `/health` and to the other members.

/// How old its answers may be.
pub(super) mod follower_lag;
/// Why it cannot do its part.
pub(super) mod follower_problem;
