#pragma once

#include <string>

#include "probes/result.hpp"

/// Names of Kubernetes, by its own rules. Pure.
namespace cozy {

/// A container of a pod.
struct PodTarget {
  std::string space;  ///< its namespace
  std::string pod;
  std::string container = "compute";  ///< as KubeVirt calls the one of QEMU

  bool operator==(const PodTarget&) const = default;
  /// "NAMESPACE/POD", and "/CONTAINER" for another than compute.
  [[nodiscard]] std::string text() const;
};

/// Pods of one namespace that carry labels.
struct PodLabel {
  std::string space;
  std::string selector;  ///< "kubevirt.io=virt-launcher,!paused": KEY, !KEY, KEY=VALUE, KEY==VALUE or KEY!=VALUE
};

/// A name of at most 63 bytes: small letters, digits and "-", which neither begins nor ends it.
bool is_dns_label(std::string_view text);
/// Such labels with "." between them, at most 253 bytes.
bool is_dns_subdomain(std::string_view text);

/// "NAMESPACE/POD[/CONTAINER]"
Result<PodTarget> parse_pod_target(const std::string& text);

/// "NAMESPACE/SELECTOR"
Result<PodLabel> parse_pod_label(const std::string& text);

}  // namespace cozy
