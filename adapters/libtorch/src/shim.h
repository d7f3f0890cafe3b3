// What `shim.rs` calls: the few things of libtorch that `tch` does not have.
//
// A function that can fail returns null, or the text of the exception, which the caller gives back to `bc_free`. No
// exception crosses this boundary.

#pragma once

#include <ATen/core/TensorBody.h>

extern "C" {

enum bc_tag : int64_t {
  BC_NOTHING = 0,
  BC_TENSOR = 1,   // data: at::Tensor*
  BC_TENSORS = 2,  // data: at::Tensor*[count]
  BC_INT = 3,      // whole
  BC_FLOAT = 4,    // re
  BC_BOOL = 5,     // whole
  BC_COMPLEX = 6,  // re, im
  BC_INTS = 7,     // data: int64_t[count]; in a result the caller gives it back to bc_free
  BC_TEXT = 8,     // data: char[count], not terminated
  BC_INDICES = 9,  // data: at::Tensor*[count], null where there is none
};

// An argument or a result. `shim.rs` has the same struct.
struct bc_value {
  int64_t tag;
  int64_t count;
  const void* data;
  int64_t whole;
  double re;
  double im;
};

enum bc_index_tag : int64_t { BC_NEW_DIM = 0, BC_ELLIPSIS = 1, BC_AT = 2, BC_SLICE = 3 };

// One item between the brackets. `start` is also the integer; `has_*` tell whether a bound is there.
struct bc_index_item {
  int64_t tag;
  int64_t has_start;
  int64_t start;
  int64_t has_stop;
  int64_t stop;
  int64_t step;
};

void bc_free(void* memory);

void bc_start();
void bc_set_threads(int threads);
char* bc_config();
char* bc_header_version();
int64_t bc_scalar_types();

void bc_collect_warnings();
char* bc_next_warning();

int bc_has_operator(const char* name, const char* overload, int with_cpu_kernel);
char* bc_sibling_overload(const char* name, const char* overload, const char* sibling, int to_out,
                          uint64_t numbers);
char* bc_call(const char* name, const char* overload, const bc_value* args, int64_t count, const at::Tensor* out,
              bc_value* result);

// The little of a tensor that is wanted where there is no `tch`.
char* bc_tensor(const void* data, int64_t count, const int64_t* sizes, int64_t dims, int64_t kind, at::Tensor** result);
at::Tensor* bc_clone(const at::Tensor* self);
void bc_free_tensor(at::Tensor* self);
int bc_defined(const at::Tensor* self);
int64_t bc_kind(const at::Tensor* self);
int64_t bc_dims(const at::Tensor* self);
void bc_layout(const at::Tensor* self, int64_t* sizes, int64_t* strides);
char* bc_grad(const at::Tensor* self, at::Tensor** result);
char* bc_set_requires_grad(const at::Tensor* self, int requires_grad);

char* bc_wrapped_number(const bc_value* number, at::Tensor** result);
char* bc_index(const at::Tensor* self, const bc_index_item* items, int64_t count, at::Tensor** result);
char* bc_set_item(const at::Tensor* self, const bc_index_item* items, int64_t count, const bc_value* value);
char* bc_backward(const at::Tensor* self, const at::Tensor* gradient);
char* bc_storage(const at::Tensor* self, const void** storage, int64_t* offset);
void bc_seed();
char* bc_read(const at::Tensor* self, void* bytes, int64_t count);

}  // extern "C"
