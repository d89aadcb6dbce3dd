import { z } from "zod";

/** Exits with one line that lists all missing and wrong names, without values. */
export function readEnvironment<Shape extends z.ZodRawShape>(
  processName: string,
  shape: Shape,
): z.infer<z.ZodObject<Shape>> {
  const parsed = z.object(shape).safeParse(process.env);
  if (parsed.success) return parsed.data;
  const problems = new Map(parsed.error.issues.map(({ path, message }) => [String(path[0]), message]));
  console.error(
    `${processName}: wrong settings: ${[...problems].map(([name, message]) => `${name} (${process.env[name] === undefined ? "missing" : message})`).join(", ")}`,
  );
  process.exit(78); // EX_CONFIG
}

export function jsonSetting<T extends z.ZodType>(schema: T) {
  return z
    .string()
    .transform((text, context): unknown => {
      try {
        return JSON.parse(text);
      } catch {
        context.addIssue({ code: "custom", message: "is not JSON" });
        return z.NEVER;
      }
    })
    .pipe(schema);
}
