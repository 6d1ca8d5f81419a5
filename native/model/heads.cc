// Readers of the hidden states: log-probs over the vocabulary, and small heads.
#include <algorithm>

#include "projection.h"
#include "state.h"

namespace minform {

namespace {

template <class T>
LinearInput headInput(const T* hidden, const LinearWeight<T>& head, int64_t count) {
  constexpr Element kind = sizeof(T) == sizeof(double) ? Element::float64 : Element::float32;
  return {{hidden, kind, count, head.inputs}, {head.data, kind, head.outputs, head.inputs}, nullptr, kind};
}

template <class T>
const T* gather(Arena& arena, const Pass<T>& pass, const int32_t* reads, int64_t count, int64_t width) {
  T* rows = arena.take<T>(count * width);
  modelKernels<T>().gatherRows(pass.hidden, reads, count, width, rows);
  return rows;
}

// The gradient of the hidden states outlives the scope that it is first taken in, so it is taken before.
template <class T>
T* hiddenGradient(Arena& arena, Pass<T>& pass, int64_t width) {
  if (pass.dHidden == nullptr) {
    pass.dHidden = arena.take<T>(pass.tokens() * width);
    std::fill(pass.dHidden, pass.dHidden + pass.tokens() * width, T(0));
  }
  return pass.dHidden;
}

}  // namespace

template <class T>
int64_t Engine<T>::logProbs(const LinearWeight<T>& head, const int32_t* reads, const int32_t* targets, int64_t count,
                            double temperature, const LogProbOutput<T>& out, const CancelFlag& cancelled) {
  State& s = *state_;
  const Scope scope(s.arena);
  const T* hidden = gather(s.arena, s.pass, reads, count, s.shape.hidden);
  return logprob<T>().linearForward(headInput(hidden, head, count), targets, temperature, out, cancelled);
}

template <class T>
int64_t Engine<T>::logProbsBackward(const LinearWeight<T>& head, const int32_t* reads, const int32_t* targets,
                                    int64_t count, double temperature, const LogProbGradients<T>& grads, T* gradHead,
                                    const CancelFlag& cancelled) {
  State& s = *state_;
  const int64_t width = s.shape.hidden;
  T* dHidden = hiddenGradient(s.arena, s.pass, width);
  const Scope scope(s.arena);
  const T* hidden = gather(s.arena, s.pass, reads, count, width);
  T* rows = s.arena.template take<T>(count * width);
  const bool wanted = gradHead != nullptr;
  if (!wanted) gradHead = s.arena.template take<T>(head.outputs * width);
  const int64_t status = logprob<T>().linearBackward(headInput(hidden, head, count), targets, temperature, grads,
                                                     {rows, gradHead, nullptr, wanted}, cancelled);
  if (!cancelled) modelKernels<T>().scatterAddRows(rows, reads, count, width, dHidden);
  return status;
}

template <class T>
void Engine<T>::readout(const ReadoutHead<T>& head, const int32_t* reads, int64_t count, T* out) {
  State& s = *state_;
  const Scope scope(s.arena);
  const T* hidden = gather(s.arena, s.pass, reads, count, s.shape.hidden);
  if (head.second.weight.data == nullptr) return project<T>(s.arena, head.first, hidden, count, nullptr, out);
  T* inner = s.arena.template take<T>(count * head.first.weight.outputs);
  project<T>(s.arena, head.first, hidden, count, nullptr, inner);
  modelKernels<T>().relu(inner, count * head.first.weight.outputs);
  project<T>(s.arena, head.second, inner, count, nullptr, out);
}

template <class T>
void Engine<T>::readoutBackward(const ReadoutHead<T>& head, const int32_t* reads, int64_t count, const T* gradOut) {
  State& s = *state_;
  T* dHidden = hiddenGradient(s.arena, s.pass, s.shape.hidden);
  const Scope scope(s.arena);
  const T* hidden = gather(s.arena, s.pass, reads, count, s.shape.hidden);
  T* rows = s.arena.template take<T>(count * s.shape.hidden);
  if (head.second.weight.data == nullptr) {
    projectBackward(s.arena, head.first, hidden, gradOut, count, rows);
  } else {
    const int64_t inner = head.first.weight.outputs;
    T* y = s.arena.template take<T>(count * inner);
    T* dy = s.arena.template take<T>(count * inner);
    project<T>(s.arena, head.first, hidden, count, nullptr, y);
    modelKernels<T>().relu(y, count * inner);
    projectBackward(s.arena, head.second, y, gradOut, count, dy);
    modelKernels<T>().reluBackward(y, count * inner, dy);
    projectBackward(s.arena, head.first, hidden, dy, count, rows);
  }
  modelKernels<T>().scatterAddRows(rows, reads, count, s.shape.hidden, dHidden);
}

#define MINFORM_INSTANTIATE(T)                                                                                  \
  template int64_t Engine<T>::logProbs(const LinearWeight<T>&, const int32_t*, const int32_t*, int64_t, double, \
                                       const LogProbOutput<T>&, const CancelFlag&);                             \
  template int64_t Engine<T>::logProbsBackward(const LinearWeight<T>&, const int32_t*, const int32_t*, int64_t, \
                                               double, const LogProbGradients<T>&, T*, const CancelFlag&);      \
  template void Engine<T>::readout(const ReadoutHead<T>&, const int32_t*, int64_t, T*);                         \
  template void Engine<T>::readoutBackward(const ReadoutHead<T>&, const int32_t*, int64_t, const T*);
MINFORM_INSTANTIATE(float)
MINFORM_INSTANTIATE(double)
#undef MINFORM_INSTANTIATE

}  // namespace minform
