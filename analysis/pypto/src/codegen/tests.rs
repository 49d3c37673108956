//! Tests of the stages together: the seed's text, and the recorded sequences of the last compiler that generated C++.

mod boxes;
mod branches;
mod conformance;
mod cores;
mod events;
mod fixture;
mod gather;
mod random;
mod seed;
mod source;
mod units;
mod windows;
mod written;
