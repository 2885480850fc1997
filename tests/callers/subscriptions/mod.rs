//! Subscriptions on the embedded store: which changes reach whom, in which order, and with what.

mod cached;
mod clocks;
mod delivery;
mod front;
mod listener;
mod lost;
mod resumed;
mod rules;
mod shared;
mod stream;
mod streams;
