//! What is computed element by element.

#![no_main]

broadcheck_fuzz::differential!(Pointwise);
