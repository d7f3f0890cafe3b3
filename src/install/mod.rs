//! Brings libtorch releases into the cache and builds the adapter against them.
