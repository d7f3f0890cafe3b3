//! Products, whose batches broadcast.

#![no_main]

broadcheck_fuzz::differential!(MatmulEinsum);
