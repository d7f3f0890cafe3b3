//! Writing to tensors that others look at.

#![no_main]

broadcheck_fuzz::differential!(InplaceAlias);
