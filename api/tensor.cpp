// Tensors that go in and out, as DLPack has them.

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "api/value.h"
#include "lang/extents.h"
#include "lang/wrapped_memory.h"

namespace {

using namespace relay;       // NOLINT: the interface itself
using namespace relay::api;  // NOLINT
using lang::DType;

std::optional<DType> dtype_of(DLDataType type) {
  if (type.lanes != 1) return std::nullopt;
  const auto one_of = [&](DType of8, DType of16, DType of32, DType of64) -> std::optional<DType> {
    switch (type.bits) {
      case 8:
        return of8;
      case 16:
        return of16;
      case 32:
        return of32;
      case 64:
        return of64;
      default:
        return std::nullopt;
    }
  };
  switch (type.code) {
    case kDLInt:
      return one_of(DType::Int8, DType::Int16, DType::Int32, DType::Int64);
    case kDLUInt:
      return one_of(DType::UInt8, DType::UInt16, DType::UInt32, DType::UInt64);
    case kDLFloat:
      if (type.bits == 8) return std::nullopt;
      return one_of(DType::Bool, DType::Float16, DType::Float32, DType::Float64);
    case kDLBfloat:
      return type.bits == 16 ? std::optional(DType::BFloat16) : std::nullopt;
    case kDLBool:
      return type.bits == 8 ? std::optional(DType::Bool) : std::nullopt;
    default:
      return std::nullopt;
  }
}

DLDataType type_of(DType dtype) {
  const auto bits = static_cast<std::uint8_t>(lang::size_of(dtype) * 8);
  if (dtype == DType::Bool) return {kDLBool, 8, 1};
  if (dtype == DType::BFloat16) return {kDLBfloat, 16, 1};
  if (lang::is_float(dtype)) return {kDLFloat, bits, 1};
  return {static_cast<std::uint8_t>(lang::is_signed_int(dtype) ? kDLInt : kDLUInt), bits, 1};
}

// A tensor of somebody else's, understood.
struct Given {
  DType dtype;
  std::vector<std::int64_t> shape;
  std::vector<std::int64_t> strides;
  std::byte* data;
  std::int64_t count;
};

relay_error* understand(const DLTensor& tensor, const char* function, Given& given) {
  const auto wrong = [&](const std::string& what) {
    return bad_argument(fmt::format("{}: {}", function, what));
  };
  if (tensor.device.device_type != kDLCPU) {
    return wrong(
        fmt::format("the tensor is on a device of the type {}, and Relay computes on the "
                    "processor (kDLCPU, 1)",
                    static_cast<int>(tensor.device.device_type)));
  }
  const auto dtype = dtype_of(tensor.dtype);
  if (!dtype) {
    return wrong(fmt::format("there is no dtype with code {}, {} bits and {} lanes",
                             tensor.dtype.code, tensor.dtype.bits, tensor.dtype.lanes));
  }
  if (tensor.ndim < 0 || (tensor.ndim > 0 && !tensor.shape)) return wrong("there is no shape");
  given.dtype = *dtype;
  given.shape.assign(tensor.shape, tensor.shape + tensor.ndim);
  for (const std::int64_t extent : given.shape) {
    if (extent < 0) return wrong(fmt::format("an extent is {}", extent));
  }
  const auto count = lang::product_of(given.shape);
  const auto bytes = count ? lang::checked_mul(*count, lang::size_of(*dtype)) : std::nullopt;
  if (!bytes) return wrong("the tensor is larger than any memory");
  given.count = static_cast<std::int64_t>(*count);
  if (!tensor.data && given.count > 0) return wrong("`data` is NULL");
  given.data = static_cast<std::byte*>(tensor.data) + tensor.byte_offset;
  given.strides.resize(given.shape.size());
  std::int64_t stride = 1;
  for (std::size_t axis = given.shape.size(); axis-- > 0;) {
    given.strides[axis] = tensor.strides ? tensor.strides[axis] : stride;
    stride *= std::max<std::int64_t>(given.shape[axis], 1);
  }
  return nullptr;
}

// An element of it, a boolean as 0 or 1, which is all that programs know.
void copy_element(const Given& given, std::int64_t offset, std::byte* to) {
  const auto size = static_cast<std::int64_t>(lang::size_of(given.dtype));
  const std::byte* const from = given.data + offset * size;
  if (given.dtype == DType::Bool) {
    *to = std::byte{*from != std::byte{0}};
  } else {
    std::memcpy(to, from, static_cast<std::size_t>(size));
  }
}

lang::TensorRef copied(const Given& given) {
  lang::TensorRef made = lang::Tensor::make(given.dtype, given.shape);
  const std::size_t size = lang::size_of(given.dtype);
  std::vector<std::int64_t> index(given.shape.size(), 0);
  std::int64_t offset = 0;
  for (std::int64_t linear = 0; linear < given.count; ++linear) {
    copy_element(given, offset, made->data() + static_cast<std::size_t>(linear) * size);
    for (std::size_t axis = given.shape.size(); axis-- > 0;) {
      offset += given.strides[axis];
      if (++index[axis] < given.shape[axis]) break;
      offset -= given.strides[axis] * given.shape[axis];
      index[axis] = 0;
    }
  }
  return made;
}

bool can_be_used_as_it_is(const Given& given) {
  const std::size_t size = lang::size_of(given.dtype);
  return given.dtype != DType::Bool && !given.shape.empty() && given.count > 0 &&
         reinterpret_cast<std::uintptr_t>(given.data) % size == 0 &&
         std::all_of(given.strides.begin(), given.strides.end(),
                     [](std::int64_t stride) { return stride >= 0; });
}

// A call is nearly always given the types that one before it was given: these are the last ones, of
// whoever has the turn. Never destroyed, as in turn.cpp.
lang::Type known_type(DType dtype, const std::vector<std::int64_t>& shape) {
  struct Known {
    DType dtype = DType::Bool;
    std::vector<std::int64_t> shape;
    lang::Type type;
  };
  static auto& known = *new std::array<Known, 8>;
  static std::size_t next = 0;
  for (const Known& each : known) {
    if (each.type && each.dtype == dtype && each.shape == shape) return each.type;
  }
  Known& oldest = known[next++ % known.size()];
  lang::Type type =
      lang::tensor_type(lang::Shape(std::vector<lang::Dim>(shape.begin(), shape.end())), dtype);
  oldest = {dtype, shape, type};
  return type;
}

relay_value* as_value(lang::TensorRef tensor) {
  const lang::Type type = lang::type_of_tensor(*tensor);
  return make_value(nullptr, lang::Value::tensor(std::move(tensor)), type);
}

void call_deleter(DLManagedTensor* tensor) {
  if (tensor->deleter) tensor->deleter(tensor);
}

// What a tensor that was handed out lives in.
struct HandedOut {
  DLManagedTensor tensor{};
  relay_value* held = nullptr;
};

}  // namespace

extern "C" {

relay_error* relay_tensor_from_dlpack(DLManagedTensor* tensor, relay_value** value) {
  if (!value) return bad_argument("relay_tensor_from_dlpack: `value` is NULL");
  *value = nullptr;
  if (!tensor) return bad_argument("relay_tensor_from_dlpack: `tensor` is NULL");
  return enter(nullptr, [&]() -> relay_error* {
    Given given;
    if (relay_error* error = understand(tensor->dl_tensor, "relay_tensor_from_dlpack", given))
      return error;
    if (can_be_used_as_it_is(given)) {
      // The memory is taken over by the last step that may fail.
      std::unique_ptr<relay_value> made(new relay_value);
      made->type = known_type(given.dtype, given.shape);
      made->value = lang::Value::tensor(lang::wrap_memory(
          given.dtype, std::move(given.shape), std::move(given.strides), given.data,
          [tensor] { after_turn([tensor] { call_deleter(tensor); }); }));
      *value = made.release();
    } else {
      *value = as_value(copied(given));
      after_turn([tensor] { call_deleter(tensor); });
    }
    return nullptr;
  });
}

relay_error* relay_tensor_copy(const DLTensor* tensor, relay_value** value) {
  if (!value) return bad_argument("relay_tensor_copy: `value` is NULL");
  *value = nullptr;
  if (!tensor) return bad_argument("relay_tensor_copy: `tensor` is NULL");
  return enter(nullptr, [&]() -> relay_error* {
    Given given;
    if (relay_error* error = understand(*tensor, "relay_tensor_copy", given)) return error;
    *value = as_value(copied(given));
    return nullptr;
  });
}

const DLTensor* relay_tensor_view(const relay_value* value) try {
  if (!value || !(value->value.is_scalar() || value->value.is_tensor())) return nullptr;
  auto* const held = const_cast<relay_value*>(value);
  std::call_once(held->is_viewed, [held] {
    DLTensor& view = held->view;
    view.device = {kDLCPU, 0};
    if (held->value.is_scalar()) {
      held->bits = held->value.bits();
      view.dtype = type_of(held->value.dtype());
      view.data = &held->bits;
      return;
    }
    const lang::Tensor& tensor = held->value.as_tensor();
    held->extents = tensor.shape();
    held->extents.insert(held->extents.end(), tensor.strides().begin(), tensor.strides().end());
    view.data = tensor.data();
    view.ndim = static_cast<std::int32_t>(tensor.rank());
    view.dtype = type_of(tensor.dtype());
    view.shape = held->extents.data();
    view.strides = view.shape + tensor.rank();
  });
  return &value->view;
} catch (...) {
  return nullptr;
}

relay_error* relay_tensor_to_dlpack(const relay_value* value, DLManagedTensor** tensor) {
  if (!tensor) return bad_argument("relay_tensor_to_dlpack: `tensor` is NULL");
  *tensor = nullptr;
  const DLTensor* const view = relay_tensor_view(value);
  if (!view) return bad_argument("relay_tensor_to_dlpack: the value is no tensor");
  try {
    auto made = std::make_unique<HandedOut>();
    made->tensor.dl_tensor = *view;
    made->tensor.manager_ctx = made.get();
    made->tensor.deleter = [](DLManagedTensor* self) {
      auto* const handed = static_cast<HandedOut*>(self->manager_ctx);
      relay_value_release(handed->held);
      delete handed;
    };
    made->held = relay_value_retain(const_cast<relay_value*>(value));
    *tensor = &made.release()->tensor;
    return nullptr;
  } catch (...) {
    return caught_error();
  }
}

}  // extern "C"
