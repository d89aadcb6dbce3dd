/**
 * The baseline of the benchmark: the same responses from Fastify routes that do nothing else.
 * `/same/…` returns them from memory; `/query/…` makes one primary key query on a pool like the
 * service's, for a favourite an `update … returning` in a transaction. The header `account` is
 * trusted.
 */
import Fastify from "fastify";
import { Pool } from "pg";

interface SecretRow {
  readonly id: string;
  readonly version: number;
  readonly favorite: boolean;
  readonly label: string;
  readonly size: string;
  readonly created_at: Date;
  readonly updated_at: Date;
}

const responseBodies = new Map<string, object>();
const pool = new Pool({ connectionString: process.env["DATABASE_URL"], max: 20 });
const app = Fastify({ logger: false, bodyLimit: 10_000_000 });
const getAccountId = (headers: Readonly<Record<string, unknown>>): string => String(headers["account"]);

app.put<{ Params: { name: string } }>("/answers/:name", ({ params, body, headers }) => {
  responseBodies.set(`${params.name} ${getAccountId(headers)}`, body as object);
  return {};
});

for (const [method, name] of [
  ["GET", "me"],
  ["GET", "list"],
  ["PATCH", "favorite"],
] as const) {
  app.route({
    method,
    url: `/same/${name}`,
    handler: ({ headers }, reply) => reply.send(responseBodies.get(`${name} ${getAccountId(headers)}`)),
  });
}

app.get("/query/me", async ({ headers }) => {
  const { rows } = await pool.query<Record<string, unknown>>("select * from accounts where id = $1", [
    getAccountId(headers),
  ]);
  return { ...responseBodies.get(`me ${getAccountId(headers)}`), user_name: rows[0]?.["user_name"] };
});

app.get("/query/list", async ({ headers }) => {
  const { rows } = await pool.query<SecretRow>("select * from secrets where account_id = $1 order by id limit 100", [
    getAccountId(headers),
  ]);
  return { ...responseBodies.get(`list ${getAccountId(headers)}`), secrets: rows.map(presentSecret) };
});

app.patch<{ Body: { secret_db_id: string; favorite: boolean } }>("/query/favorite", async ({ headers, body }) => {
  const client = await pool.connect();
  try {
    await client.query("begin");
    const { rows } = await client.query<SecretRow>(
      "update secrets set favorite = $3 where account_id = $1 and id = $2 returning *",
      [getAccountId(headers), body.secret_db_id, body.favorite],
    );
    await client.query("commit");
    return rows.map(presentSecret)[0];
  } finally {
    client.release();
  }
});

function presentSecret({ id, version, favorite, label, size, created_at, updated_at }: SecretRow): object {
  return {
    secret_db_id: id,
    version,
    favorite,
    label,
    size: Number(size),
    created_at: created_at.toISOString(),
    updated_at: updated_at.toISOString(),
  };
}

await app.listen({ host: "127.0.0.1", port: 0 });
const address = app.server.address();
process.stdout.write(`${JSON.stringify({ ready: true, port: typeof address === "object" ? address?.port : null })}\n`);
process.once("SIGTERM", () => process.exit(0));
