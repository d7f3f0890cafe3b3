//! Operands of several dtypes.

#![no_main]

broadcheck_fuzz::differential!(Promotion);
