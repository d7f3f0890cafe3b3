//! Elementwise operations.

#![no_main]

broadcheck_fuzz::differential!(Pointwise);
