import {
  ATTRIBUTE,
  type AttributeMessage,
  ELEMENT,
  type ElementType,
  EXTERNAL,
  encodeModel,
  type GraphMessage,
  type NodeMessage,
  type TensorMessage,
  type ValueInfoMessage,
} from "./schema.ts";

/** @internal A value of the graph under construction: a name, and the element type that it holds. */
export interface Value<E extends ElementType = ElementType> {
  readonly name: string;
  readonly type: E;
}

/** @internal Sizes: a number, or a name for a size that is known at run time. */
export type Dimension = number | string;

/** @internal Bytes inside a file: the file (relative to the weights folder), the offset, the length. */
export interface Region {
  readonly file: string;
  readonly offset: number;
  readonly length: number;
}

/** @internal Attributes: integers, lists of integers, `{ float }` and strings. */
export type Attributes = Readonly<Record<string, number | readonly number[] | string | { float: number }>>;

/** @internal Domain of ONNX Runtime's own operators. */
export const MICROSOFT = "com.microsoft";

const OPSETS = { "": 21, [MICROSOFT]: 1 };

/**
 * @internal Builds one graph, or the body of a loop inside one. A body sees the values of the graphs around it. Names
 * are counted over the whole model, so they never collide.
 */
export class GraphBuilder {
  private readonly conversions: NodeMessage[] = [];
  private readonly nodes: NodeMessage[] = [];
  private readonly initializers: TensorMessage[] = [];
  private readonly inputs: ValueInfoMessage[] = [];
  private readonly outputs: ValueInfoMessage[] = [];
  private readonly constants = new Map<string, Value>();
  private readonly counter: { next: number };

  constructor(parent?: GraphBuilder) {
    this.counter = parent?.counter ?? { next: 0 };
  }

  /** A graph input. */
  input<E extends ElementType>(name: string, type: E, dims: readonly Dimension[]): Value<E> {
    this.inputs.push(valueInfo(name, type, dims));
    return { name, type };
  }

  /** Makes a value an output, under its own name or a given one. */
  output(value: Value, dims: readonly Dimension[], name?: string): void {
    if (name !== undefined) {
      this.push("Identity", [value], [name]);
      this.outputs.push(valueInfo(name, value.type, dims));
    } else {
      this.outputs.push(valueInfo(value.name, value.type, dims));
    }
  }

  /** A constant whose bytes stay in a file. */
  external<E extends ElementType>(type: E, dims: readonly number[], region: Region): Value<E> {
    const value = this.fresh(type, "w");
    this.initializers.push({
      name: value.name,
      dims: [...dims],
      dataType: ELEMENT[type],
      dataLocation: EXTERNAL,
      externalData: [
        { key: "location", value: region.file },
        { key: "offset", value: String(region.offset) },
        { key: "length", value: String(region.length) },
      ],
    });
    return value;
  }

  /**
   * A stored constant in float32, converted when it is needed. The runtime walks a graph from its results backwards and
   * visits the inputs of a node from the one listed last to the one listed first: a conversion that is listed before
   * all other nodes therefore runs right before its user and not earlier, so only one layer's copies are alive.
   */
  convert(value: Value): Value<"float32"> {
    if (value.type === "float32") return value as Value<"float32">;
    const copy = this.fresh("float32", "Cast");
    this.conversions.push(node("Cast", [value], [copy.name], { to: ELEMENT.float32 }));
    return copy;
  }

  /** A float32 constant inside the model. */
  floats(data: Float32Array | readonly number[], dims: readonly number[]): Value<"float32"> {
    return this.constant("float32", Float32Array.from(data), dims);
  }

  /** A 1-D int64 constant, shared between its users. */
  longs(...data: number[]): Value<"int64"> {
    return this.shared(`l${data}`, () =>
      this.constant("int64", BigInt64Array.from(data, BigInt), [data.length]),
    );
  }

  /** A float32 scalar, shared between its users. */
  scalar(value: number): Value<"float32"> {
    return this.shared(`f${value}`, () => this.constant("float32", Float32Array.of(value), []));
  }

  /** Any operator with one result of the given type. An empty slot among the inputs is `undefined`. */
  op<E extends ElementType>(
    opType: string,
    type: E,
    inputs: readonly (Value | undefined)[],
    attributes: Attributes = {},
    domain = "",
  ): Value<E> {
    const value = this.fresh(type, opType);
    this.push(opType, inputs, [value.name], attributes, domain);
    return value;
  }

  /** Any operator whose results are named by the caller's list of types; `undefined` leaves a result out. */
  multi<const E extends readonly (ElementType | undefined)[]>(
    opType: string,
    types: E,
    inputs: readonly (Value | undefined)[],
    attributes: Attributes = {},
    domain = "",
  ): { [K in keyof E]: E[K] extends ElementType ? Value<E[K]> : undefined } {
    const values = types.map((type) => (type === undefined ? undefined : this.fresh(type, opType)));
    this.push(
      opType,
      inputs,
      values.map((value) => value?.name ?? ""),
      attributes,
      domain,
    );
    return values as { [K in keyof E]: E[K] extends ElementType ? Value<E[K]> : undefined };
  }

  /**
   * Runs `body` `trips` times and stacks what each run returns along a new first axis. The body gets its number as a
   * 1-D int64 of one element.
   */
  collect<E extends ElementType>(
    trips: Value<"int64">,
    dims: readonly Dimension[],
    body: (graph: GraphBuilder, index: Value<"int64">) => Value<E>,
  ): Value<E> {
    const inner = new GraphBuilder(this);
    const id = this.counter.next++;
    const iteration = inner.input(`iteration${id}`, "int64", []);
    const condition = inner.input(`condition${id}`, "bool", []);
    const index = inner.op("Reshape", "int64", [iteration, inner.longs(1)]);
    const result = body(inner, index);
    inner.output(condition, [], `continue${id}`);
    inner.output(result, dims);
    const value = this.fresh(result.type, "Loop");
    const g = inner.message(`body${id}`);
    this.nodes.push({
      opType: "Loop",
      domain: "",
      name: value.name,
      input: [trips.name, ""],
      output: [value.name],
      attribute: [{ name: "body", type: ATTRIBUTE.graph, g }],
    });
    return value;
  }

  /** The bytes of the model. */
  encode(name: string): Uint8Array {
    return encodeModel(this.message(name), OPSETS);
  }

  private message(name: string): GraphMessage {
    return {
      name,
      node: [...this.conversions, ...this.nodes],
      initializer: this.initializers,
      input: this.inputs,
      output: this.outputs,
    };
  }

  private fresh<E extends ElementType>(type: E, hint: string): Value<E> {
    return { name: `${hint}_${this.counter.next++}`, type };
  }

  private shared<E extends ElementType>(key: string, make: () => Value<E>): Value<E> {
    let value = this.constants.get(key) as Value<E> | undefined;
    if (value === undefined) {
      value = make();
      this.constants.set(key, value);
    }
    return value;
  }

  private constant<E extends ElementType>(
    type: E,
    data: Float32Array | BigInt64Array,
    dims: readonly number[],
  ): Value<E> {
    const value = this.fresh(type, "c");
    const rawData = new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
    this.initializers.push({ name: value.name, dims: [...dims], dataType: ELEMENT[type], rawData });
    return value;
  }

  private push(
    opType: string,
    inputs: readonly (Value | undefined)[],
    output: string[],
    attributes: Attributes = {},
    domain = "",
  ): void {
    this.nodes.push(node(opType, inputs, output, attributes, domain));
  }
}

function node(
  opType: string,
  inputs: readonly (Value | undefined)[],
  output: string[],
  attributes: Attributes,
  domain = "",
): NodeMessage {
  const input = inputs.map((value) => value?.name ?? "");
  const attribute = Object.entries(attributes).map(([name, value]) => attributeMessage(name, value));
  return { opType, domain, name: output.find((name) => name !== "")!, input, output, attribute };
}

function attributeMessage(name: string, value: Attributes[string]): AttributeMessage {
  if (typeof value === "number") return { name, type: ATTRIBUTE.int, i: value };
  if (typeof value === "string") return { name, type: ATTRIBUTE.string, s: new TextEncoder().encode(value) };
  if ("float" in value) return { name, type: ATTRIBUTE.float, f: value.float };
  return { name, type: ATTRIBUTE.ints, ints: [...value] };
}

function valueInfo(name: string, type: ElementType, dims: readonly Dimension[]): ValueInfoMessage {
  const dim = dims.map((size) => (typeof size === "number" ? { dimValue: size } : { dimParam: size }));
  return { name, type: { tensorType: { elemType: ELEMENT[type], shape: { dim } } } };
}
