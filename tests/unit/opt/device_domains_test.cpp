#include "opt/device_domains.h"

#include <catch2/catch.hpp>

#include "lang/diagnostic.h"

namespace relay::opt {
namespace {

lang::VirtualDevice on(const std::string& text) { return *lang::virtual_device_of(text); }

TEST_CASE("domains that do not agree are as they were before they were tried") {
  DeviceDomains domains;
  const auto fresh = [&] { return domains.fresh(nullptr); };
  const auto fixed = [&](const char* device) { return domains.fixed(nullptr, on(device), {}); };
  const auto chain = fresh();
  const auto end = fresh();
  domains.unify(chain, end, {});
  const auto left = domains.function({end, fresh()}, fixed("cpu:1"));
  const auto right = domains.function({fixed("cpu:2"), fixed("cpu:2")}, fixed("cpu:3"));

  domains.try_unify(left, right);
  for (const auto param : {chain, end, domains.params(left)[0], domains.params(left)[1]})
    CHECK(domains.device(param).is_open());
  CHECK(domains.device(left) == on("cpu:1"));
  CHECK(domains.device(right) == on("cpu:3"));
  CHECK_THROWS_AS(domains.unify(left, right, {}), lang::Failure);
}

TEST_CASE("domains that agree are one after they were tried") {
  DeviceDomains domains;
  const auto param = domains.fresh(nullptr);
  const auto left = domains.function({param}, domains.fixed(nullptr, on("cpu:1"), {}));
  const auto right =
      domains.function({domains.fixed(nullptr, on("cpu:2"), {})}, domains.fresh(nullptr));
  domains.try_unify(left, right);
  CHECK(domains.device(param) == on("cpu:2"));
  CHECK(domains.device(right) == on("cpu:1"));
}

}  // namespace
}  // namespace relay::opt
