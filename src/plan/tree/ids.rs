//! Positions in a plan: plain numbers that tell one read, space or set of arguments from another.

/// Position of a read in [`super::Plan::reads`].
pub type ReadId = usize;
/// Position of a row space in [`super::Plan::spaces`].
pub type SpaceId = usize;
/// Position of a field's arguments in [`super::Plan::arguments`].
pub type ArgumentsId = usize;
/// Position of a call of a service in [`super::Plan::calls`].
pub type ServiceCallId = usize;
/// Position of a guard in [`super::Plan::guards`].
pub type GuardId = usize;
