/**
 * Lines as pino writes them, on stdout. Fields are chosen one by one: no body, token, cookie,
 * query, name or password is ever among them.
 */
export interface Log {
  info(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
}

type LogFields = Readonly<Record<string, string | number | undefined>>;

export function createLog(write: (line: string) => unknown = (line) => process.stdout.write(line)): Log {
  const writeAtLevel =
    (level: number) =>
    (message: string, fields: LogFields = {}) => {
      write(`${JSON.stringify({ level, time: Date.now(), name: "identity", ...fields, msg: message })}\n`);
    };
  return { info: writeAtLevel(30), error: writeAtLevel(50) };
}

/**
 * What may be said of an unexpected error: its name and where it was thrown. Messages can carry
 * values, so they stay out.
 */
export function describeError(error: unknown): LogFields {
  if (!(error instanceof Error)) return { error: typeof error };
  const code = "code" in error && typeof error.code === "string" ? error.code : undefined;
  const frames = error.stack?.split("\n").filter((text) => /^\s+at /.test(text));
  return {
    error: error.name,
    code,
    at: frames
      ?.slice(0, 6)
      .map((text) => text.trim())
      .join(" < "),
  };
}
