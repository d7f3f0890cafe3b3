//! Sizes and strides: views, indexing, reductions.

#![no_main]

broadcheck_fuzz::differential!(Shapes);
