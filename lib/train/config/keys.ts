import * as z from "zod";

/** @internal A key of a config. */
export interface KeyInfo {
  /** Dotted. */
  readonly path: string;
  readonly description: string;
  /** What it takes, in words. */
  readonly type: string;
  /** As JSON; `undefined` without one. */
  readonly fallback: string | undefined;
  readonly isSection: boolean;
}

interface JsonSchema {
  readonly type?: string;
  readonly description?: string;
  readonly default?: unknown;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly JsonSchema[];
  readonly items?: JsonSchema;
  readonly prefixItems?: readonly JsonSchema[];
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: number;
}

/** @internal The keys of a schema in its order, sections before what they hold. */
export function describeKeys(schema: z.ZodType): KeyInfo[] {
  return walk(z.toJSONSchema(schema, { io: "input" }) as JsonSchema, "");
}

/** @internal Their dotted paths. */
export function keyPaths(schema: z.ZodType): string[] {
  return describeKeys(schema).map(({ path }) => path);
}

function walk(schema: JsonSchema, prefix: string): KeyInfo[] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, value]) => {
    const path = prefix === "" ? name : `${prefix}.${name}`;
    const isSection = value.properties !== undefined;
    const required = schema.required?.includes(name) === true;
    const fallback = isSection || value.default === undefined ? undefined : JSON.stringify(value.default);
    const type = required && !isSection ? `${typeOf(value)}, required` : typeOf(value);
    return [{ path, description: value.description ?? "", type, fallback, isSection }, ...walk(value, path)];
  });
}

function typeOf(schema: JsonSchema): string {
  if (schema.const !== undefined) return `\`${String(schema.const)}\``;
  if (schema.enum !== undefined) return schema.enum.map((value) => `\`${String(value)}\``).join(", ");
  if (schema.anyOf !== undefined) return schema.anyOf.map(typeOf).join(" or ");
  if (schema.prefixItems !== undefined) return `[${schema.prefixItems.map(typeOf).join(", ")}]`;
  if (schema.type === "array") return `list of ${typeOf(schema.items ?? {})}`;
  if (schema.properties !== undefined) return "section";
  const { minimum, maximum, exclusiveMinimum } = schema;
  const low =
    exclusiveMinimum !== undefined
      ? ` > ${exclusiveMinimum}`
      : minimum !== undefined && minimum > -Number.MAX_SAFE_INTEGER
        ? ` >= ${minimum}`
        : "";
  const high = maximum !== undefined && maximum < Number.MAX_SAFE_INTEGER ? ` <= ${maximum}` : "";
  return `${{ string: "text", boolean: "`true`, `false`" }[schema.type ?? ""] ?? schema.type ?? "value"}${low}${high}`;
}
