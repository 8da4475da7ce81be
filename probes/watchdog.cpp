#include "watchdog.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

#include "clock.hpp"
#include "text.hpp"

namespace cozy {

struct Watchdog::Batch {
  std::vector<Request> requests;
  std::vector<Answer> answers;
  std::size_t next = 0;         ///< the file that is being read, or the first not begun
  std::int64_t started_ns = 0;  ///< when that file was begun
};

/// What the workers and the watcher share. Each worker carries the generation it was started in; one
/// whose generation is over touches nothing any more.
struct Watchdog::Shared {
  std::mutex mutex;
  std::condition_variable work;
  std::condition_variable done;
  Batch* batch = nullptr;
  std::uint64_t generation = 0;
};

namespace {

std::string within(std::int64_t bound_ns) { return std::to_string(bound_ns / k_ns_per_ms) + " ms"; }

Watchdog::Answer take(FileCalls& calls, const Watchdog::Request& request) {
  Watchdog::Answer answer;
  const auto keep = [&answer](auto result, auto& place) {
    answer.state = result ? Watchdog::State::read : Watchdog::State::failed;
    if (result) {
      place = std::move(*result);
    } else {
      answer.error = result.error();
    }
  };
  switch (request.what) {
    case Watchdog::What::record:
      keep(read_file(calls, request.path, FileShape::record, request.cap), answer.file);
      break;
    case Watchdog::What::stream:
      keep(read_file(calls, request.path, FileShape::stream, request.cap), answer.file);
      break;
    case Watchdog::What::listing:
      keep(list_directory(calls, request.path, request.cap), answer.entries);
      break;
    case Watchdog::What::listing_with_modes:
      keep(list_directory(calls, request.path, request.cap, true), answer.entries);
      break;
    case Watchdog::What::symlink:
      keep(read_symlink(calls, request.path), answer.target);
      break;
    case Watchdog::What::own_vm_statistics:
      keep(read_own_vm_statistics(calls, request.path), answer.tables);
      break;
    case Watchdog::What::borrowed:
      keep(read_borrowed(calls, request.pid, request.descriptor, request.path, request.cap), answer.file);
      break;
  }
  return answer;
}

}  // namespace

bool Watchdog::Answer::vanished() const {
  return state == State::failed && (error.code == ENOENT || error.code == ESRCH || error.code == ENODEV);
}

Watchdog::Watchdog(FileCalls& calls, Bounds bounds)
    : calls_(calls),
      bounds_(bounds),
      walk_end_ns_(boottime_ns() + bounds.walk_ns),
      shared_(std::make_shared<Shared>()) {}

Watchdog::~Watchdog() {
  const std::lock_guard lock(shared_->mutex);
  ++shared_->generation;
  shared_->work.notify_all();
}

/// False where this process may have no more threads.
bool Watchdog::start_worker() {
  const auto work = [shared = shared_, &calls = calls_, generation = shared_->generation] {
    std::unique_lock lock(shared->mutex);
    const auto mine = [&] { return shared->generation == generation; };
    for (;;) {
      shared->work.wait(lock, [&] { return !mine() || shared->batch != nullptr; });
      if (!mine()) return;
      Batch& batch = *shared->batch;
      while (batch.next < batch.requests.size()) {
        const Request request = batch.requests[batch.next];
        batch.started_ns = boottime_ns();
        lock.unlock();
        Answer answer = take(calls, request);
        lock.lock();
        if (!mine()) return;  // left behind meanwhile: the batch may be gone
        batch.answers[batch.next++] = std::move(answer);
      }
      shared->batch = nullptr;
      shared->done.notify_all();
    }
  };
  try {
    std::thread(work).detach();
  } catch (const std::system_error&) {
    return false;
  }
  return true;
}

/// What is left of a batch when there is nobody to read it.
void Watchdog::fail_rest(Batch& batch) {
  for (; batch.next < batch.requests.size(); ++batch.next) {
    Answer& answer = batch.answers[batch.next];
    answer.state = State::failed;
    answer.error.reason = "no thread could be started to read it: " + errno_text(EAGAIN);
    answer.error.code = EAGAIN;
  }
  shared_->batch = nullptr;
}

/// Called with the mutex held. Returns when every file has its answer or the walk's bound is used up.
void Watchdog::watch(Batch& batch) {
  std::unique_lock lock(shared_->mutex, std::adopt_lock);
  const auto finished = [&] { return shared_->batch == nullptr; };
  while (!finished()) {
    const std::int64_t limit = std::min(batch.started_ns + bounds_.file_ns, walk_end_ns_);
    const std::int64_t left = limit - boottime_ns();
    if (left > 0) {
      shared_->done.wait_for(lock, std::chrono::nanoseconds(left), finished);
      continue;
    }
    ++shared_->generation;
    ++abandoned_;
    const std::int64_t waited_ns = boottime_ns() - batch.started_ns;
    Answer& stuck = batch.answers[batch.next];
    stuck.state = State::stalled;
    stuck.error = Error{batch.requests[batch.next].path, "no answer within " + within(waited_ns), 0};
    ++batch.next;
    if (batch.next == batch.requests.size() || boottime_ns() >= walk_end_ns_) {
      shared_->batch = nullptr;
    }
    batch.started_ns = boottime_ns();
    has_worker_ = start_worker();
    if (!has_worker_ && shared_->batch != nullptr) fail_rest(batch);
  }
  lock.release();
}

std::vector<Watchdog::Answer> Watchdog::read(std::vector<Request> requests) {
  Batch batch;
  batch.requests = std::move(requests);
  batch.answers.resize(batch.requests.size());
  for (std::size_t i = 0; i < batch.requests.size(); ++i) {
    batch.answers[i].error = Error{batch.requests[i].path,
                                   "not reached: the walk's bound of " + within(bounds_.walk_ns) + " was used up", 0};
  }
  if (batch.requests.empty() || boottime_ns() >= walk_end_ns_) return std::move(batch.answers);

  const std::lock_guard lock(shared_->mutex);
  if (!has_worker_) {
    ++shared_->generation;
    has_worker_ = start_worker();
  }
  if (!has_worker_) {
    fail_rest(batch);
    return std::move(batch.answers);
  }
  batch.started_ns = boottime_ns();
  shared_->batch = &batch;
  shared_->work.notify_all();
  watch(batch);
  return std::move(batch.answers);
}

Watchdog::Answer Watchdog::read(Request request) {
  std::vector<Request> one;
  one.push_back(std::move(request));
  return std::move(read(std::move(one)).front());
}

}  // namespace cozy
