// See shim.h.

#include "shim.h"

#include <ATen/Context.h>
#include <ATen/ExpandUtils.h>
#include <ATen/Parallel.h>
#include <ATen/ScalarOps.h>
#include <ATen/TensorIndexing.h>
#include <ATen/Version.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/stack.h>
#include <ATen/ops/empty.h>
#include <c10/util/Exception.h>
#include <c10/util/Logging.h>
#include <torch/csrc/api/include/torch/version.h>
#include <torch/library.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <optional>
#include <stdexcept>
#include <string>

namespace {

// `std::optional` since 2.4, and a class of libtorch's own before; libtorch's lists know only the one that it uses itself.
#if TORCH_VERSION_MAJOR < 2 || (TORCH_VERSION_MAJOR == 2 && TORCH_VERSION_MINOR < 4)
template <class T>
using optional = c10::optional<T>;
constexpr auto nothing = c10::nullopt;
#else
template <class T>
using optional = std::optional<T>;
constexpr auto nothing = std::nullopt;
#endif

// Runs `body` and turns what it throws into text. The texts of `c10::Error` are its `what()`, with the place it was
// raised at, so that `tch`'s errors and these are one kind.
template <class Body>
char* guarded(Body&& body) {
  try {
    body();
    return nullptr;
  } catch (const std::exception& error) {
    return strdup(error.what());
  } catch (...) {
    return strdup("something was thrown that is no std::exception");
  }
}

// libtorch keeps the handler per thread, and so do the warnings wait per thread.
thread_local std::deque<std::string> warnings;

#if TORCH_VERSION_MAJOR < 2
namespace warning = c10::Warning;
using Bound = int64_t;

struct Collector : c10::WarningHandler {
  void process(const c10::SourceLocation&, const std::string& text, const bool) override { warnings.push_back(text); }
};
#else
namespace warning = c10::WarningUtils;
using Bound = c10::SymInt;

struct Collector : c10::WarningHandler {
  void process(const c10::Warning& given) override { warnings.push_back(given.msg()); }
};
#endif

at::Scalar to_scalar(const bc_value& value) {
  switch (value.tag) {
    case BC_INT:
      return at::Scalar(value.whole);
    case BC_FLOAT:
      return at::Scalar(value.re);
    case BC_BOOL:
      return at::Scalar(value.whole != 0);
    case BC_COMPLEX:
      return at::Scalar(c10::complex<double>(value.re, value.im));
    default:
      throw std::invalid_argument("shim: not a number");
  }
}

c10::IValue to_ivalue(const bc_value& value) {
  switch (value.tag) {
    case BC_NOTHING:
      return c10::IValue();
    case BC_TENSOR:
      return c10::IValue(*static_cast<const at::Tensor*>(value.data));
    case BC_TENSORS: {
      auto tensors = static_cast<const at::Tensor* const*>(value.data);
      c10::List<at::Tensor> list;
      for (int64_t i = 0; i < value.count; ++i) list.push_back(*tensors[i]);
      return c10::IValue(std::move(list));
    }
    case BC_INDICES: {
      // A null pointer is a missing tensor.
      auto tensors = static_cast<const at::Tensor* const*>(value.data);
      c10::List<optional<at::Tensor>> list;
      for (int64_t i = 0; i < value.count; ++i) {
        list.push_back(tensors[i] ? optional<at::Tensor>(*tensors[i]) : nothing);
      }
      return c10::IValue(std::move(list));
    }
    case BC_INTS:
      return c10::IValue(at::IntArrayRef(static_cast<const int64_t*>(value.data), value.count));
    case BC_TEXT:
      return c10::IValue(std::string(static_cast<const char*>(value.data), value.count));
    default:
      return c10::IValue(to_scalar(value));
  }
}

bc_value number(const at::Scalar& scalar) {
  bc_value value{};
  if (scalar.isBoolean()) {
    value.tag = BC_BOOL;
    value.whole = scalar.toBool();
  } else if (scalar.isIntegral(/*includeBool=*/false)) {
    value.tag = BC_INT;
    value.whole = scalar.toLong();
  } else if (scalar.isFloatingPoint()) {
    value.tag = BC_FLOAT;
    value.re = scalar.toDouble();
  } else {
    auto complex = scalar.toComplexDouble();
    value.tag = BC_COMPLEX;
    value.re = complex.real();
    value.im = complex.imag();
  }
  return value;
}

// The tensors of a result belong to the caller; the array that holds them is given back to `bc_free`.
bc_value tensors(at::ArrayRef<at::Tensor> list) {
  auto array = static_cast<at::Tensor**>(malloc(sizeof(at::Tensor*) * (list.size() + 1)));
  for (size_t i = 0; i < list.size(); ++i) array[i] = new at::Tensor(list[i]);
  bc_value value{};
  value.tag = BC_TENSORS;
  value.count = static_cast<int64_t>(list.size());
  value.data = array;
  return value;
}

bc_value to_value(const c10::IValue& result) {
  if (result.isTensor()) {
    bc_value value{};
    value.tag = BC_TENSOR;
    value.data = new at::Tensor(result.toTensor());
    return value;
  }
  if (result.isTensorList()) return tensors(result.toTensorVector());
  if (result.isIntList()) {
    auto list = result.toIntVector();
    auto array = static_cast<int64_t*>(malloc(sizeof(int64_t) * (list.size() + 1)));
    std::copy(list.begin(), list.end(), array);
    bc_value value{};
    value.tag = BC_INTS;
    value.count = static_cast<int64_t>(list.size());
    value.data = array;
    return value;
  }
  if (result.isScalar()) return number(result.toScalar());
  if (result.isNone()) return bc_value{};
  throw std::invalid_argument("shim: a result of type " + result.tagKind());
}

// Functions of C++ alone, as operators, so that they are found and called as all others are.
TORCH_LIBRARY(broadcheck, library) {
  library.def("infer_size(int[] a, int[] b) -> int[]", [](at::IntArrayRef a, at::IntArrayRef b) {
    return at::infer_size(a, b);
  });
  library.def("are_expandable(int[] shape1, int[] shape2) -> bool", [](at::IntArrayRef shape1, at::IntArrayRef shape2) {
    return at::are_expandable(shape1, shape2);
  });
  library.def("is_expandable_to(int[] shape, int[] desired) -> bool", [](at::IntArrayRef shape, at::IntArrayRef desired) {
    return at::is_expandable_to(shape, desired);
  });
}

std::vector<at::indexing::TensorIndex> to_indices(const bc_index_item* items, int64_t count) {
  using namespace at::indexing;
  auto bound = [](int64_t has, int64_t value) {
    return has ? optional<Bound>(value) : nothing;
  };
  std::vector<TensorIndex> indices;
  for (int64_t i = 0; i < count; ++i) {
    const auto& item = items[i];
    switch (item.tag) {
      case BC_NEW_DIM:
        indices.emplace_back(None);
        break;
      case BC_ELLIPSIS:
        indices.emplace_back(Ellipsis);
        break;
      case BC_AT:
        indices.emplace_back(item.start);
        break;
      default:
        indices.emplace_back(Slice(bound(item.has_start, item.start), bound(item.has_stop, item.stop), item.step));
    }
  }
  return indices;
}

bool takes_number(const c10::Argument& argument) {
  auto type = argument.type();
  if (auto optional = type->cast<c10::OptionalType>()) type = optional->getElementType();
  return type->kind() == c10::TypeKind::NumberType;
}

}  // namespace

extern "C" {

void bc_free(void* memory) { free(memory); }

void bc_start() {
  // By default libtorch symbolizes a backtrace for every error, which takes milliseconds.
  c10::SetStackTraceFetcher([]() -> std::string { return std::string(); });
  // TORCH_WARN_ONCE would otherwise warn in the first program and not in the next.
  warning::set_warnAlways(true);
}

// Their numbers count from 0, and those of later releases come after these.
int64_t bc_scalar_types() { return static_cast<int64_t>(c10::ScalarType::Undefined); }

void bc_set_threads(int threads) {
  at::set_num_threads(threads);
  at::set_num_interop_threads(threads);
}

char* bc_config() { return strdup(at::show_config().c_str()); }

char* bc_header_version() { return strdup(TORCH_VERSION); }

void bc_collect_warnings() {
  static Collector collector;
  warning::set_warning_handler(&collector);
  warnings.clear();
}

void bc_seed() {
  // The random numbers of a device that cannot be seeded differ from run to run; no oracle compares them.
  try {
    at::manual_seed(0);
  } catch (const std::exception&) {
  }
}

char* bc_next_warning() {
  if (warnings.empty()) return nullptr;
  char* text = strdup(warnings.front().c_str());
  warnings.pop_front();
  return text;
}

int bc_has_operator(const char* name, const char* overload, int with_cpu_kernel) {
  auto op = c10::Dispatcher::singleton().findSchema({name, overload});
  return op.has_value() && (!with_cpu_kernel || op->hasKernelForDispatchKey(c10::DispatchKey::CPU));
}

// The overload of `sibling` that takes the arguments of `name.overload`, apart from tensors to write to: of `add_` for
// an in-place form, of `add` itself for `out`. Names do not tell: `out` of `add.Tensor` is `add.out`, of `eq.Tensor`
// `eq.Tensor_out`, of `sum.dim_IntList` `sum.IntList_out`. Where a bit of `numbers` is set, the overload takes a number
// in the place of that argument; such an overload counts only if libtorch has not generated it from another one. Null
// if there is none.
char* bc_sibling_overload(const char* name, const char* overload, const char* sibling, int to_out,
                          uint64_t numbers) {
  auto& dispatcher = c10::Dispatcher::singleton();
  auto op = dispatcher.findSchema({name, overload});
  if (!op) return nullptr;
  const auto& wanted = op->schema().arguments();
  auto fits = [&](const c10::FunctionSchema& schema) {
    size_t matched = 0;
    bool has_out = false;
    for (const auto& argument : schema.arguments()) {
      if (argument.is_out()) {
        has_out = true;
      } else if (matched < wanted.size() && argument.name() == wanted[matched].name() &&
                 (numbers >> matched & 1 ? takes_number(argument) : *argument.type() == *wanted[matched].type())) {
        ++matched;
      } else {
        return false;
      }
    }
    return matched == wanted.size() && has_out == (to_out != 0);
  };
  for (const auto& candidate : dispatcher.getAllOpNames()) {
    if (candidate.name != sibling) continue;
    auto found = dispatcher.findSchema(candidate);
    if (!found || (numbers != 0 && found->hasTag(at::Tag::generated))) continue;
    if (fits(found->schema())) return strdup(candidate.overload_name.c_str());
  }
  return nullptr;
}

// Arguments that are not given take the schema's defaults, and `out` is the argument that the schema marks as written
// to and named.
char* bc_call(const char* name, const char* overload, const bc_value* args, int64_t count, const at::Tensor* out,
              bc_value* result) {
  return guarded([&] {
    auto op = c10::Dispatcher::singleton().findSchemaOrThrow(name, overload);
    const auto& parameters = op.schema().arguments();
    torch::jit::Stack stack;
    for (size_t i = 0; i < parameters.size(); ++i) {
      if (parameters[i].is_out()) {
        if (!out) throw std::invalid_argument("shim: the operator needs an out tensor");
        stack.emplace_back(*out);
      } else if (i < static_cast<size_t>(count) && args[i].tag == BC_INT &&
                 parameters[i].type()->kind() == c10::TypeKind::FloatType) {
        // As Python does it.
        stack.emplace_back(static_cast<double>(args[i].whole));
      } else if (i < static_cast<size_t>(count)) {
        stack.push_back(to_ivalue(args[i]));
      } else if (parameters[i].default_value()) {
        stack.push_back(*parameters[i].default_value());
      } else {
        throw std::invalid_argument("shim: no argument for " + parameters[i].name());
      }
    }
    op.callBoxed(stack);
    if (stack.empty()) {
      *result = bc_value{};
    } else if (stack.size() == 1) {
      *result = to_value(stack[0]);
    } else {
      std::vector<at::Tensor> several;
      for (const auto& value : stack) several.push_back(value.toTensor());
      *result = tensors(several);
    }
  });
}

char* bc_tensor(const void* data, int64_t count, const int64_t* sizes, int64_t dims, int64_t kind,
                at::Tensor** result) {
  return guarded([&] {
    auto tensor = at::empty(at::IntArrayRef(sizes, dims), at::TensorOptions(static_cast<at::ScalarType>(kind)));
    if (static_cast<int64_t>(tensor.nbytes()) != count) throw std::invalid_argument("shim: wrong number of bytes");
    if (count > 0) std::memcpy(tensor.data_ptr(), data, count);
    *result = new at::Tensor(std::move(tensor));
  });
}

at::Tensor* bc_clone(const at::Tensor* self) { return new at::Tensor(*self); }

void bc_free_tensor(at::Tensor* self) { delete self; }

int bc_defined(const at::Tensor* self) { return self->defined(); }

int64_t bc_kind(const at::Tensor* self) { return static_cast<int64_t>(self->scalar_type()); }

int64_t bc_dims(const at::Tensor* self) { return self->dim(); }

void bc_layout(const at::Tensor* self, int64_t* sizes, int64_t* strides) {
  for (int64_t dim = 0; dim < self->dim(); ++dim) {
    sizes[dim] = self->sizes()[dim];
    strides[dim] = self->strides()[dim];
  }
}

char* bc_grad(const at::Tensor* self, at::Tensor** result) {
  return guarded([&] { *result = new at::Tensor(self->grad()); });
}

char* bc_set_requires_grad(const at::Tensor* self, int requires_grad) {
  return guarded([&] { self->set_requires_grad(requires_grad != 0); });
}

char* bc_wrapped_number(const bc_value* value, at::Tensor** result) {
  return guarded([&] {
    auto tensor = c10::scalar_to_tensor(to_scalar(*value));
    tensor.unsafeGetTensorImpl()->set_wrapped_number(true);
    *result = new at::Tensor(std::move(tensor));
  });
}

char* bc_index(const at::Tensor* self, const bc_index_item* items, int64_t count, at::Tensor** result) {
  return guarded([&] { *result = new at::Tensor(self->index(to_indices(items, count))); });
}

char* bc_set_item(const at::Tensor* self, const bc_index_item* items, int64_t count, const bc_value* value) {
  return guarded([&] {
    auto target = *self;
    auto indices = to_indices(items, count);
    if (value->tag == BC_TENSOR) {
      target.index_put_(indices, *static_cast<const at::Tensor*>(value->data));
    } else {
      target.index_put_(indices, to_scalar(*value));
    }
  });
}

char* bc_backward(const at::Tensor* self, const at::Tensor* gradient) {
  return guarded([&] { self->backward(gradient ? *gradient : at::Tensor()); });
}

char* bc_storage(const at::Tensor* self, const void** storage, int64_t* offset) {
  return guarded([&] {
    *storage = self->storage().unsafeGetStorageImpl();
    *offset = self->storage_offset();
  });
}

// Views may be lazily conjugated or negated; the bytes are those of the elements, not of the memory.
char* bc_read(const at::Tensor* self, void* bytes, int64_t count) {
  return guarded([&] {
    auto whole = self->detach().resolve_conj().resolve_neg().contiguous();
    if (static_cast<int64_t>(whole.nbytes()) != count) throw std::invalid_argument("shim: wrong number of bytes");
    if (count > 0) std::memcpy(bytes, whole.data_ptr(), count);
  });
}

}  // extern "C"
