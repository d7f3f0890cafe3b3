#!/bin/bash -eu
# Builds the fuzz targets as OSS-Fuzz and ClusterFuzzLite want them: programs, seeds, dictionaries and options in $OUT.
# It runs in the image that the Dockerfile beside it makes; fuzz/README.md tells how to try it without.
cd "$SRC/broadcheck"

# PyTorch's wheels are made with GCC's C++ library. What is linked with them has to be, libFuzzer too: two such libraries
# in one process do not agree on exceptions. And nothing here is C++ that is to be tested.
unset CUSTOM_LIBFUZZER_PATH CUSTOM_LIBFUZZER_STD_CXX
export CC=gcc CXX=g++ CFLAGS=-O1 CXXFLAGS="-O1 -g0 -fno-sanitize=address"

# A fetched libtorch stays where it is for the next build, if there is a place for it.
if [ -z "${LIBTORCH:-}" ]; then
    env -u RUSTFLAGS SANITIZER=address cargo run --release -- libtorch install
    LIBTORCH=$(env -u RUSTFLAGS SANITIZER=address cargo run --release --quiet -- libtorch path)
fi
export LIBTORCH LIBTORCH_CXX11_ABI=1 LD_LIBRARY_PATH="$LIBTORCH/lib"
env -u RUSTFLAGS SANITIZER=address cargo run --release --quiet --example seeds -- "$WORK/seeds"

TARGET_DIR=$(realpath -m "${CARGO_TARGET_DIR:-fuzz/target}")
if [ "${SANITIZER:-address}" = coverage ]; then
    # For coverage the image's own cargo leaves the options of `cargo fuzz build` out.
    cargo build --manifest-path fuzz/Cargo.toml --bins --features libtorch
    BUILT=$TARGET_DIR/debug
else
    # The installer has compiled the glue of tch, which takes minutes.
    mkdir -p "$WORK/cargo/.cargo"
    fuzz/glue "$LIBTORCH" >"$WORK/cargo/.cargo/config.toml"
    (cd "$WORK/cargo" && cargo fuzz build --fuzz-dir "$SRC/broadcheck/fuzz" --target-dir "$TARGET_DIR" \
        -O --debug-assertions --no-trace-compares --features libtorch)
    BUILT=$TARGET_DIR/x86_64-unknown-linux-gnu/release
fi

# Where the targets run there is no libtorch but the one that is put beside them.
mkdir -p "$OUT/lib"
cp -P "$LIBTORCH"/lib/*.so* "$OUT/lib/"
for source in fuzz/fuzz_targets/*.rs; do
    target=$(basename "$source" .rs)
    cp "$BUILT/$target" "$OUT/$target"
    # libtorch keeps memory until the process ends, and takes no for an answer if it asks for more than there is.
    printf '[libfuzzer]\nmax_len = 4096\n\n[asan]\ndetect_leaks = 0\nallocator_may_return_null = 1\n' >"$OUT/$target.options"
    (cd "$WORK/seeds/$target" && rm -f "$OUT/${target}_seed_corpus.zip" && zip -q -r "$OUT/${target}_seed_corpus.zip" .)
    if [ -e "$WORK/seeds/$target.dict" ]; then
        cp "$WORK/seeds/$target.dict" "$OUT/"
    fi
    patchelf --set-rpath '$ORIGIN/lib' "$OUT/$target"
    ldd "$OUT/$target" | awk '/lib(stdc\+\+|gomp|gcc_s)/ { print $3 }' | while read -r library; do
        case $library in "$OUT"/*) ;; *) cp -L -n "$library" "$OUT/lib/" ;; esac
    done
done
