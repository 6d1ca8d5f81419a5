#include "minform/presets.h"

#include "addon.h"
#include "args.h"

namespace minform {

namespace {

// The numbers of a rule object.
class Fields {
 public:
  Fields(const Napi::CallbackInfo& info, const Args& args, size_t index) : args_(args), index_(index) {
    if (!info[index].IsObject()) args.fail(index, "is not an object");
    object_ = info[index].As<Napi::Object>();
  }

  double number(const char* name) const {
    const Napi::Value value = object_.Get(name);
    if (!value.IsNumber()) args_.fail(index_, "lacks a number");
    return value.As<Napi::Number>().DoubleValue();
  }
  int32_t flag(const char* name) const { return object_.Get(name).ToBoolean().Value() ? 1 : 0; }
  // An enumerator below `count`: the kernels switch on it.
  template <class Enum>
  Enum choice(const char* name, int32_t count) const {
    const double value = number(name);
    if (!(value >= 0 && value < count)) args_.fail(index_, "names an unknown choice");
    return static_cast<Enum>(static_cast<int32_t>(value));
  }

 private:
  const Args& args_;
  size_t index_;
  Napi::Object object_;
};

// Every function starts (mask, width, ...).
PaddedShape paddedShape(const Args& args) {
  int64_t total = 0;
  const uint8_t* mask = args.array<uint8_t>(0, &total);
  const int64_t width = args.integer(1);
  if (width < 1 || total % width != 0) args.fail(1, "does not divide the mask");
  return {mask, total / width, width};
}

// (group, groups, ...)
PeerGroupShape groupShape(const Args& args) {
  int64_t rows = 0;
  const int32_t* group = args.array<int32_t>(0, &rows);
  const int32_t groups = args.integer(1);
  for (int64_t row = 0; row < rows; row++) {
    if (group[row] < 0 || group[row] >= groups) args.fail(0, "names no group");
  }
  return {group, rows, groups};
}

PeerAggregateRule aggregateRule(const Fields& fields) {
  return {fields.choice<PeerRowDivisor>("row", 4), fields.choice<PeerBatchDivisor>("batch", 6), fields.flag("select"),
          fields.flag("skipEmpty"), fields.number("scale")};
}

PeerPolicyRule policyRule(const Fields& fields) {
  return {fields.choice<PeerTokenLoss>("loss", 4),
          fields.choice<PeerRatioLevel>("level", 4),
          fields.number("logLow"),
          fields.number("logHigh"),
          fields.number("low"),
          fields.number("high"),
          fields.number("dualClip"),
          fields.number("delta"),
          fields.number("tauPositive"),
          fields.number("tauNegative"),
          fields.flag("rowAdvantages"),
          fields.number("countEpsilon")};
}

Napi::Value statsOf(Napi::Env env, const PeerPolicyStats& stats) {
  Napi::Object result = Napi::Object::New(env);
  result.Set("loss", stats.loss);
  result.Set("clipFraction", stats.clipFraction);
  result.Set("clipFractionLower", stats.clipFractionLower);
  result.Set("kl", stats.kl);
  return result;
}

// (mask, width, values, masked, out)
Napi::Value rowSums(const Napi::CallbackInfo& info) {
  const Args args(info);
  const PaddedShape shape = paddedShape(args);
  return byFloatKind(args, 2, [&](auto kind) -> Napi::Value {
    using T = decltype(kind);
    presets<T>().rowSums(shape, args.array<T>(2, shape.total()), args.flag(3), args.array<T>(4, shape.rows));
    return info.Env().Undefined();
  });
}

// (mask, width, rowValues, out)
Napi::Value spread(const Napi::CallbackInfo& info) {
  const Args args(info);
  const PaddedShape shape = paddedShape(args);
  return byFloatKind(args, 2, [&](auto kind) -> Napi::Value {
    using T = decltype(kind);
    presets<T>().spread(shape, args.array<T>(2, shape.rows), args.array<T>(3, shape.total()));
    return info.Env().Undefined();
  });
}

// (mask, width, values, rowValues, weights?, only?, keepElsewhere, out)
Napi::Value subtractRows(const Napi::CallbackInfo& info) {
  const Args args(info);
  const PaddedShape shape = paddedShape(args);
  return byFloatKind(args, 2, [&](auto kind) -> Napi::Value {
    using T = decltype(kind);
    const int64_t total = shape.total();
    presets<T>().subtractRows(shape, args.array<T>(2, total), args.array<T>(3, shape.rows),
                              args.optionalArray<T>(4, total), args.optionalArray<uint8_t>(5, total), args.flag(6),
                              args.array<T>(7, total));
    return info.Env().Undefined();
  });
}

// (mask, width, rowValues, values): values are changed
Napi::Value addAtLast(const Napi::CallbackInfo& info) {
  const Args args(info);
  const PaddedShape shape = paddedShape(args);
  return byFloatKind(args, 2, [&](auto kind) -> Napi::Value {
    using T = decltype(kind);
    presets<T>().addAtLast(shape, args.array<T>(2, shape.rows), args.array<T>(3, shape.total()));
    return info.Env().Undefined();
  });
}

// (mask, width, stepEnds, out)
Napi::Value stepTokens(const Napi::CallbackInfo& info) {
  const Args args(info);
  const PaddedShape shape = paddedShape(args);
  return byFloatKind(args, 3, [&](auto kind) -> Napi::Value {
    using T = decltype(kind);
    presets<T>().stepTokens(shape, args.array<uint8_t>(2, shape.total()), args.array<T>(3, shape.total()));
    return info.Env().Undefined();
  });
}

// (mask, width, rewards, rule, out)
Napi::Value returns(const Napi::CallbackInfo& info) {
  const Args args(info);
  const PaddedShape shape = paddedShape(args);
  const Fields fields(info, args, 3);
  const PeerReturnRule rule{fields.flag("smallest"), fields.flag("maskRewards"), fields.flag("maskCarry"),
                            fields.flag("maskResult"), fields.number("gamma")};
  return byFloatKind(args, 2, [&](auto kind) -> Napi::Value {
    using T = decltype(kind);
    presets<T>().returns(shape, rule, args.array<T>(2, shape.total()), args.array<T>(4, shape.total()));
    return info.Env().Undefined();
  });
}

// (mask, width, rewards, values, use, gamma, lambda, advantages, returns)
Napi::Value gae(const Napi::CallbackInfo& info) {
  const Args args(info);
  const PaddedShape shape = paddedShape(args);
  return byFloatKind(args, 2, [&](auto kind) -> Napi::Value {
    using T = decltype(kind);
    const int64_t total = shape.total();
    presets<T>().gae(shape, static_cast<PeerMaskUse>(args.integer(4)), args.array<T>(2, total), args.array<T>(3, total),
                     args.number(5), args.number(6), args.array<T>(7, total), args.array<T>(8, total));
    return info.Env().Undefined();
  });
}

// (mask, width, values, rule, out) -> false when there are too few tokens
Napi::Value whiten(const Napi::CallbackInfo& info) {
  const Args args(info);
  const PaddedShape shape = paddedShape(args);
  const Fields fields(info, args, 3);
  const PeerWhitenRule rule{fields.flag("select"),     fields.flag("unbiased"),       fields.flag("clampFloor"),
                            fields.flag("maskResult"), fields.number("countEpsilon"), fields.number("floor")};
  return byFloatKind(args, 2, [&](auto kind) -> Napi::Value {
    using T = decltype(kind);
    return Napi::Boolean::New(
        info.Env(), presets<T>().whiten(shape, rule, args.array<T>(2, shape.total()), args.array<T>(4, shape.total())));
  });
}

// (group, groups, scores, rule, out)
Napi::Value groupScores(const Napi::CallbackInfo& info) {
  const Args args(info);
  const PeerGroupShape groups = groupShape(args);
  const Fields fields(info, args, 3);
  const PeerGroupRule rule{fields.choice<PeerGroupForm>("form", 4), fields.choice<PeerSingletonForm>("singleton", 3),
                           fields.flag("batchStd"), fields.number("epsilon"), fields.number("factor")};
  return byFloatKind(args, 2, [&](auto kind) -> Napi::Value {
    using T = decltype(kind);
    presets<T>().groupScores(groups, rule, args.array<T>(2, groups.rows), args.array<T>(4, groups.rows));
    return info.Env().Undefined();
  });
}

// (group, groups, a, b?, out)
Napi::Value othersRatio(const Napi::CallbackInfo& info) {
  const Args args(info);
  const PeerGroupShape groups = groupShape(args);
  return byFloatKind(args, 2, [&](auto kind) -> Napi::Value {
    using T = decltype(kind);
    presets<T>().othersRatio(groups, args.array<T>(2, groups.rows), args.optionalArray<T>(3, groups.rows),
                             args.array<T>(4, groups.rows));
    return info.Env().Undefined();
  });
}

// (group, groups, scores, weights, out)
Napi::Value weightedMeans(const Napi::CallbackInfo& info) {
  const Args args(info);
  const PeerGroupShape groups = groupShape(args);
  return byFloatKind(args, 2, [&](auto kind) -> Napi::Value {
    using T = decltype(kind);
    presets<T>().weightedMeans(groups, args.array<T>(2, groups.rows), args.array<T>(3, groups.rows),
                               args.array<T>(4, groups.rows));
    return info.Env().Undefined();
  });
}

// (mask, width, logProbs, oldLogProbs, advantages, rule, aggregate, gradient) -> stats
Napi::Value policyLoss(const Napi::CallbackInfo& info) {
  const Args args(info);
  const PaddedShape shape = paddedShape(args);
  const PeerPolicyRule rule = policyRule(Fields(info, args, 5));
  const PeerAggregateRule aggregate = aggregateRule(Fields(info, args, 6));
  return byFloatKind(args, 2, [&](auto kind) -> Napi::Value {
    using T = decltype(kind);
    const int64_t total = shape.total();
    return statsOf(info.Env(),
                   presets<T>().policyLoss(shape, rule, aggregate, args.array<T>(2, total), args.array<T>(3, total),
                                           args.array<T>(4, rule.rowAdvantages != 0 ? shape.rows : total),
                                           args.array<T>(7, total)));
  });
}

// (mask, width, logProbs, oldLogProbs, advantages, rule, gradient) -> stats
Napi::Value geometricMeanLoss(const Napi::CallbackInfo& info) {
  const Args args(info);
  const PaddedShape shape = paddedShape(args);
  const PeerPolicyRule rule = policyRule(Fields(info, args, 5));
  return byFloatKind(args, 2, [&](auto kind) -> Napi::Value {
    using T = decltype(kind);
    const int64_t total = shape.total();
    return statsOf(info.Env(),
                   presets<T>().geometricMeanLoss(shape, rule, args.array<T>(2, total), args.array<T>(3, total),
                                                  args.array<T>(4, total), args.array<T>(6, total)));
  });
}

// (mask, width, losses, aggregate) -> loss
Napi::Value aggregate(const Napi::CallbackInfo& info) {
  const Args args(info);
  const PaddedShape shape = paddedShape(args);
  const PeerAggregateRule rule = aggregateRule(Fields(info, args, 3));
  return byFloatKind(args, 2, [&](auto kind) -> Napi::Value {
    using T = decltype(kind);
    return Napi::Number::New(info.Env(), presets<T>().aggregate(shape, rule, args.array<T>(2, shape.total())));
  });
}

// (mask, width, logProbs, refLogProbs, rule, values, slopes)
Napi::Value kl(const Napi::CallbackInfo& info) {
  const Args args(info);
  const PaddedShape shape = paddedShape(args);
  const Fields fields(info, args, 4);
  const PeerKlRule rule{fields.choice<PeerKlForm>("form", 4), fields.flag("gradientOfK2"), fields.number("inputClamp"),
                        fields.number("outputClamp")};
  return byFloatKind(args, 2, [&](auto kind) -> Napi::Value {
    using T = decltype(kind);
    const int64_t total = shape.total();
    presets<T>().kl(shape, rule, args.array<T>(2, total), args.array<T>(3, total), args.array<T>(5, total),
                    args.array<T>(6, total));
    return info.Env().Undefined();
  });
}

// (mask, width, predicted, old, returns, rule, aggregate, gradient) -> stats
Napi::Value valueLoss(const Napi::CallbackInfo& info) {
  const Args args(info);
  const PaddedShape shape = paddedShape(args);
  const Fields fields(info, args, 5);
  const PeerValueRule rule{fields.number("clipRange"), fields.flag("splitAtBounds")};
  const PeerAggregateRule aggregate = aggregateRule(Fields(info, args, 6));
  return byFloatKind(args, 2, [&](auto kind) -> Napi::Value {
    using T = decltype(kind);
    const int64_t total = shape.total();
    return statsOf(info.Env(), presets<T>().valueLoss(shape, rule, aggregate, fields.number("countEpsilon"),
                                                      args.array<T>(2, total), args.array<T>(3, total),
                                                      args.array<T>(4, total), args.array<T>(7, total)));
  });
}

}  // namespace

void registerPresets(Napi::Env env, Napi::Object exports) {
  Family(env, exports, "presets")
      .add("rowSums", rowSums)
      .add("spread", spread)
      .add("subtractRows", subtractRows)
      .add("addAtLast", addAtLast)
      .add("stepTokens", stepTokens)
      .add("returns", returns)
      .add("gae", gae)
      .add("whiten", whiten)
      .add("groupScores", groupScores)
      .add("othersRatio", othersRatio)
      .add("weightedMeans", weightedMeans)
      .add("policyLoss", policyLoss)
      .add("geometricMeanLoss", geometricMeanLoss)
      .add("aggregate", aggregate)
      .add("kl", kl)
      .add("valueLoss", valueLoss);
}

}  // namespace minform
