import { EventEmitter } from "node:events";

import { Pool, type ClientBase } from "pg";

import { currentTrace } from "./current-trace.ts";
import { traceStatements } from "./trace-statements.ts";

/** Answers each statement with its text, later; fails for "broken". */
class EchoClient extends EventEmitter {
  connect(callback: (error: null) => void): void {
    setImmediate(() => callback(null));
  }

  query(text: string, _values?: unknown, callback?: (error: Error | null, result?: string) => void): unknown {
    const error = text === "broken" ? Object.assign(new Error("planted"), { code: "23505" }) : null;
    if (callback !== undefined) {
      setImmediate(() => (error === null ? callback(null, text) : callback(error)));
      return undefined;
    }
    return error === null ? Promise.resolve(text) : Promise.reject(error);
  }

  end(callback: () => void): void {
    callback();
  }
}

function openPool(): Pool {
  const pool = new Pool({ max: 1, Client: EchoClient as unknown as new () => ClientBase });
  traceStatements(pool);
  return pool;
}

/** Serves a request, and returns what its trace has. */
async function serve(task: () => Promise<unknown>): Promise<readonly string[]> {
  const events: string[] = [];
  const startStatement = (text: string) => {
    events.push(`start ${text}`);
    return (error?: unknown): void => {
      events.push(error === undefined ? `end ${text}` : `fail ${text}`);
    };
  };
  await currentTrace.run({ startStatement }, task);
  return events;
}

describe("traceStatements", () => {
  beforeEach(() => {
    process.env["OTEL_EXPORTER_OTLP_ENDPOINT"] = "http://127.0.0.1:1";
  });
  afterEach(() => {
    delete process.env["OTEL_EXPORTER_OTLP_ENDPOINT"];
  });

  it("leaves a pool as it is without a collector", () => {
    delete process.env["OTEL_EXPORTER_OTLP_ENDPOINT"];
    const pool = new Pool();
    const { connect } = pool;
    traceStatements(pool);
    expect([pool.connect, pool.listenerCount("connect")]).toEqual([connect, 0]);
  });

  it("records a statement for the request that waits for a connection, not for the one that frees it", async () => {
    const pool = openPool();
    const names = ["a", "b", "c"];
    const [traces] = await Promise.all([
      Promise.all(
        names.map((name) => serve(() => Promise.all([pool.query(`${name}1`, []), pool.query(`${name}2`, [])]))),
      ),
      pool.query("of no request", []),
    ]);
    expect(traces.map((events) => [...events].sort())).toEqual(
      names.map((name) => [`end ${name}1`, `end ${name}2`, `start ${name}1`, `start ${name}2`]),
    );
    await pool.end();
  });

  it("records statements of a connection that is checked out", async () => {
    const pool = openPool();
    const events = await serve(async () => {
      const client = await pool.connect();
      await client.query({ text: "begin" });
      await client.query("commit");
      client.release();
    });
    expect(events).toEqual(["start begin", "end begin", "start commit", "end commit"]);
    await pool.end();
  });

  it("records failures, which callers still get", async () => {
    const pool = openPool();
    const events = await serve(async () => {
      await expect(pool.query("broken", [])).rejects.toMatchObject({ code: "23505" });
      const client = await pool.connect();
      await expect(client.query("broken")).rejects.toMatchObject({ code: "23505" });
      client.release();
    });
    expect(events).toEqual(["start broken", "fail broken", "start broken", "fail broken"]);
    await pool.end();
  });

  it("records nothing outside of a traced request", async () => {
    const pool = openPool();
    await expect(pool.query("select 1", [])).resolves.toBe("select 1");
    await pool.end();
  });
});
