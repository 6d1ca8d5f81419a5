import protobuf from "protobufjs/light.js";

/** @internal Element types of the ONNX format that this library writes, by their number in the format. */
export const ELEMENT = {
  float32: 1,
  uint8: 2,
  int8: 3,
  int32: 6,
  int64: 7,
  bool: 9,
  float16: 10,
  bfloat16: 16,
} as const;

/** @internal Name of an element type. */
export type ElementType = keyof typeof ELEMENT;

/** @internal Numbers of attribute kinds in the ONNX format. */
export const ATTRIBUTE = { float: 1, int: 2, string: 3, tensor: 4, graph: 5, ints: 7 } as const;

/** @internal `TensorProto.data_location`: the bytes are in a file beside the model. */
export const EXTERNAL = 1;

type Fields = Record<string, { type: string; id: number; rule?: "repeated" }>;

const repeated = (type: string, id: number) => ({ type, id, rule: "repeated" as const });
const one = (type: string, id: number) => ({ type, id });
const message = (fields: Fields) => ({ fields });

// The part of the public ONNX message format (onnx.proto3) that inference graphs need.
const root = protobuf.Root.fromJSON({
  nested: {
    Model: message({
      irVersion: one("int64", 1),
      producerName: one("string", 2),
      graph: one("Graph", 7),
      opsetImport: repeated("Opset", 8),
    }),
    Opset: message({ domain: one("string", 1), version: one("int64", 2) }),
    Graph: message({
      node: repeated("Node", 1),
      name: one("string", 2),
      initializer: repeated("Tensor", 5),
      input: repeated("ValueInfo", 11),
      output: repeated("ValueInfo", 12),
    }),
    Node: message({
      input: repeated("string", 1),
      output: repeated("string", 2),
      name: one("string", 3),
      opType: one("string", 4),
      attribute: repeated("Attribute", 5),
      domain: one("string", 7),
    }),
    Attribute: message({
      name: one("string", 1),
      f: one("float", 2),
      i: one("int64", 3),
      s: one("bytes", 4),
      t: one("Tensor", 5),
      g: one("Graph", 6),
      ints: repeated("int64", 8),
      type: one("int32", 20),
    }),
    Tensor: message({
      dims: repeated("int64", 1),
      dataType: one("int32", 2),
      name: one("string", 8),
      rawData: one("bytes", 9),
      externalData: repeated("Entry", 13),
      dataLocation: one("int32", 14),
    }),
    Entry: message({ key: one("string", 1), value: one("string", 2) }),
    ValueInfo: message({ name: one("string", 1), type: one("Type", 2) }),
    Type: message({ tensorType: one("TensorType", 1) }),
    TensorType: message({ elemType: one("int32", 1), shape: one("Shape", 2) }),
    Shape: message({ dim: repeated("Dimension", 1) }),
    Dimension: message({ dimValue: one("int64", 1), dimParam: one("string", 2) }),
  },
});

const Model = root.lookupType("Model");

/** @internal One attribute of a node. */
export interface AttributeMessage {
  name: string;
  type: number;
  f?: number;
  i?: number;
  s?: Uint8Array;
  t?: TensorMessage;
  g?: GraphMessage;
  ints?: number[];
}

/** @internal One operator. */
export interface NodeMessage {
  input: string[];
  output: string[];
  name: string;
  opType: string;
  domain: string;
  attribute: AttributeMessage[];
}

/** @internal A constant: its bytes, or where they are. */
export interface TensorMessage {
  name: string;
  dims: number[];
  dataType: number;
  rawData?: Uint8Array;
  externalData?: { key: string; value: string }[];
  dataLocation?: number;
}

/** @internal A graph input or output. */
export interface ValueInfoMessage {
  name: string;
  type: { tensorType: { elemType: number; shape: { dim: { dimValue?: number; dimParam?: string }[] } } };
}

/** @internal A graph, or the body of a loop. */
export interface GraphMessage {
  name: string;
  node: NodeMessage[];
  initializer: TensorMessage[];
  input: ValueInfoMessage[];
  output: ValueInfoMessage[];
}

/** @internal The bytes of a model file. */
export function encodeModel(graph: GraphMessage, opsets: Readonly<Record<string, number>>): Uint8Array {
  const opsetImport = Object.entries(opsets).map(([domain, version]) => ({ domain, version }));
  return Model.encode({ irVersion: 10, producerName: "minform", graph, opsetImport }).finish();
}
