//! Gradients of operands that were expanded.

#![no_main]

broadcheck_fuzz::differential!(Gradient);
