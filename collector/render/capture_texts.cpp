#include "collector/render/capture_texts.hpp"

#include <algorithm>
#include <span>
#include <utility>

namespace cozy {

namespace {

/// How long a text is where it is written, as far as that is at most `most`; `kept` bytes of it are within.
struct Measure {
  std::size_t written = 0;
  std::size_t kept = 0;
};

Measure measure(std::string_view text, std::size_t most) {
  Measure measured;
  char before = '\0';
  for (const char c : text) {
    const std::size_t size = written_size(before, c);
    if (measured.written + size > most) break;
    measured.written += size;
    ++measured.kept;
    before = c;
  }
  return measured;
}

/// The length to which each is cut so that all of them are at most `most` together. Short ones leave their room
/// to the others.
std::size_t common_length(std::vector<std::size_t> lengths, std::size_t most) {
  std::sort(lengths.begin(), lengths.end());
  std::size_t room = most;
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    const std::size_t share = room / (lengths.size() - i);
    if (lengths[i] > share) return share;
    room -= lengths[i];
  }
  return most;
}

void cut(CaptureText& text, std::size_t length) {
  std::size_t kept = measure(text.text, length).kept;
  if (kept == text.text.size()) return;
  const std::size_t line_end = kept == 0 ? std::string::npos : text.text.rfind('\n', kept - 1);
  if (line_end != std::string::npos) kept = line_end + 1;
  text.cut_bytes = text.text.size() - kept;
  text.text.resize(kept);
}

/// How to read it, and at the end what a reading that came out like this one means, or is not.
std::vector<std::string> sentences_of(const Legend& legend, const Capture& capture) {
  const LegendValues values{capture.sample, capture.snapshot};
  std::vector<std::string> sentences;
  for (const std::string& sentence : legend.sentences) sentences.push_back(fill(sentence, values));
  const auto add = [&](const std::string& sentence) {
    if (!sentence.empty()) sentences.push_back(fill(sentence, values));
  };
  switch (capture.judgement.outcome) {
    case Outcome::complete:
      add(legend.pairing);
      break;
    case Outcome::partial:
      add(legend.partial_means);
      break;
    case Outcome::empty:
      add(legend.empty_means);
      break;
    case Outcome::unavailable:
      add(legend.unavailable_is_not);
      break;
  }
  return sentences;
}

CaptureText text_of(const std::string& snapshot, const SampleCapture& read) {
  CaptureText text;
  text.snapshot = snapshot;
  text.capture = read.capture.name;
  text.sample = read.capture.sample;
  text.file = read.file;
  text.outcome = read.capture.judgement.outcome;
  text.reason = read.capture.judgement.reason;
  text.text = read.capture.text;
  if (const Legend* legend = find_legend(read.capture.name)) {
    text.title = legend->title;
    text.layer = legend->layer;
    text.source = legend->source;
    text.legend = sentences_of(*legend, read.capture);
  }
  return text;
}

/// As the captures of a snapshot are listed everywhere, whatever order an archive has.
std::size_t place_of(const CaptureText& text) {
  const std::span<const Legend> known = legends();
  const auto found =
      std::find_if(known.begin(), known.end(), [&](const Legend& l) { return l.capture == text.capture; });
  return static_cast<std::size_t>(found - known.begin());
}

bool comes_before(const CaptureText& one, const CaptureText& other) {
  if (one.snapshot != other.snapshot) return one.snapshot < other.snapshot;
  return std::pair(place_of(one), one.sample) < std::pair(place_of(other), other.sample);
}

}  // namespace

std::size_t written_size(char before, char byte) {
  constexpr std::size_t k_escape = 6;  // "\u003c"
  const auto code = static_cast<unsigned char>(byte);
  if (byte == '\n' || byte == '\t' || byte == '"' || byte == '\\') return 2;
  if (code < 0x20 || code >= 0x7f || byte == '<' || byte == '#' || (byte == ':' && before == ':')) return k_escape;
  return 1;
}

std::vector<CaptureText> capture_texts(const Report& report, const std::string& one_snapshot, std::size_t most) {
  std::vector<CaptureText> texts;
  for (const Snapshot& snapshot : report.snapshots) {
    if (!one_snapshot.empty() && snapshot.name != one_snapshot) continue;
    for (const SampleCapture& read : snapshot.captures) texts.push_back(text_of(snapshot.name, read));
  }
  std::stable_sort(texts.begin(), texts.end(), comes_before);
  std::vector<std::size_t> lengths;
  lengths.reserve(texts.size());
  for (const CaptureText& text : texts) lengths.push_back(measure(text.text, most + 1).written);
  const std::size_t length = common_length(std::move(lengths), most);
  for (CaptureText& text : texts) cut(text, length);
  return texts;
}

}  // namespace cozy
