#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "lang/type.h"
#include "lang/virtual_device.h"

// Private to PlanDevices.
namespace relay::opt {

// Where values live, while it is being settled: a value that is no function in one place, a
// function where its parameters and its result do.
class DeviceDomains {
 public:
  using Id = std::uint32_t;

  Id fresh(const lang::Type& type);
  // All of it on that device, because `where` says so.
  Id fixed(const lang::Type& type, const lang::VirtualDevice& device, lang::Span where);
  Id function(std::vector<Id> params, Id result);

  // Both are one from now on. A function and a value agree where all of the function's places are
  // that of the value. Throws Failure, at `where`, if devices disagree.
  void unify(Id a, Id b, lang::Span where);
  // The same if they agree, else nothing. Costs what the two are made of.
  void try_unify(Id a, Id b);

  bool is_function(Id id) { return domains_[root(id)].is_function; }
  const std::vector<Id>& params(Id function) { return domains_[root(function)].params; }
  Id result(Id function) { return domains_[root(function)].result; }

  // What is open of a value, or of a function's result, is settled; then its parameters, by the
  // result.
  void settle(Id id, const lang::VirtualDevice& device);
  // Of a function: of its result.
  const lang::VirtualDevice& device(Id id);

 private:
  struct Domain {
    Id parent;
    bool is_function = false;
    lang::VirtualDevice device = {};
    lang::Span where = {};  // who said so
    std::vector<Id> params = {};
    Id result = 0;
  };

  Id add(Domain domain);
  Id root(Id id);
  // To write into; while trying, what was there is kept.
  Domain& changing(Id id);
  bool agrees(Id a, Id b);
  bool settles_all(Id function, Id place);

  std::vector<Domain> domains_;
  bool is_trying_ = false;
  std::vector<std::pair<Id, Domain>> before_;
  // The two that disagreed.
  Id left_ = 0;
  Id right_ = 0;
};

}  // namespace relay::opt
