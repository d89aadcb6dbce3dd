import { sql } from "drizzle-orm";

import { openFaultInjector, type FaultInjector } from "../testing/database-faults.ts";
import { buildSecret, confirmChange } from "../testing/person.ts";
import { prepareServiceProcess } from "../testing/process.ts";
import { startService, type TestService } from "../testing/service.ts";
import { buildLargeContent } from "../testing/upload.ts";
import { accounts } from "./schema.ts";

let service: TestService;
let faultInjector: FaultInjector;
beforeAll(async () => {
  service = await startService();
  faultInjector = await openFaultInjector(service.database.url);
});
afterAll(async () => {
  await faultInjector.close();
  await service.stop();
});

/** Cuts the call's connection while it waits for the table. @returns its response */
const cutConnectionAt = async <T>(table: string, call: () => Promise<T>): Promise<T> => {
  await faultInjector.lockTable(table);
  const responsePromise = call();
  responsePromise.catch(() => undefined); // it may reject before it is awaited
  await faultInjector.waitForBlocked(1);
  await faultInjector.terminate("waiting");
  await faultInjector.release();
  return responsePromise;
};

describe("after a terminated connection", () => {
  it("repeats a read", async () => {
    const person = await service.signIn();
    expect(await cutConnectionAt("accounts", () => service.call("GET", "/user/me", person.token))).toMatchObject({
      status: 200,
      body: { user_id: person.userId },
    });
  });

  it("repeats the lookup of the session", async () => {
    const person = await service.signIn();
    expect(
      await cutConnectionAt("sessions", () =>
        service.call("POST", "/secrets/store/get-secret", person.token, {
          body: { secret_db_id: "0199aaaa-0000-7000-8000-000000000000" },
        }),
      ),
    ).toMatchObject({ status: 404 });
  });

  it("repeats a transaction that had not committed, and writes once", async () => {
    const person = await service.signIn();
    const { body } = buildSecret(person);
    expect(
      await cutConnectionAt("keyrings", () => service.call("POST", "/secrets/store", person.token, { body })),
    ).toMatchObject({ status: 200, body: { version: 1, state_rev: 1 } });
    confirmChange(person, body.keyring);
    const { body: page } = await service.call("GET", "/secrets/store", person.token);
    expect(page).toMatchObject({ total: 1, state_rev: 1 });
  });

  it("replaces an idle connection unnoticed", async () => {
    const person = await service.signIn();
    await service.call("GET", "/user/me", person.token);
    expect(await faultInjector.terminate("all")).toBeGreaterThan(0);
    expect((await service.call("GET", "/user/me", person.token)).status).toBe(200);
  });

  describe("after a commit whose response was lost", () => {
    beforeAll(async () => {
      await faultInjector.query("create table gate ()");
      await faultInjector.query("create table gated (id integer)");
      await faultInjector.query(
        "create function pass() returns trigger language plpgsql as 'begin lock table gate in access share mode; return null; end'",
      );
      for (const table of ["gated", "keyrings", "uploads"]) {
        await faultInjector.query(
          `create constraint trigger at_commit after insert on ${table} deferrable initially deferred for each row execute function pass()`,
        );
      }
    });
    afterAll(async () => {
      for (const table of ["gated", "keyrings", "uploads"])
        await faultInjector.query(`drop trigger at_commit on ${table}`);
    });

    it("does not repeat the transaction", async () => {
      const { db } = service.app.services;
      let runCount = 0;
      const transaction = cutConnectionAt("gate", () =>
        db.transaction(async (tx) => {
          runCount += 1;
          await tx.execute(sql`insert into gated values (1)`);
        }),
      );
      await expect(transaction).rejects.toThrow();
      expect(runCount).toBe(1);
    });

    it("repeats an idempotent call", async () => {
      const person = await service.signIn();
      const { body } = buildSecret(person);
      expect(
        await cutConnectionAt("gate", () => service.call("POST", "/secrets/store", person.token, { body })),
      ).toMatchObject({
        status: 200,
        body: { version: 1, state_rev: 1 },
      });
      expect((await service.call("GET", "/secrets/store", person.token)).body).toMatchObject({ total: 1 });
    });

    it("answers 503 to any other call", async () => {
      const person = await service.signIn();
      const form = await buildLargeContent({ bytes: 100 }).buildStartForm();
      const response = await cutConnectionAt("gate", () =>
        service.call("POST", "/v2/secrets/secret", person.token, form),
      );
      expect(response).toMatchObject({ status: 503, headers: { "retry-after": "3" } });
    });
  });
});

describe("a transaction with a conflict", () => {
  it("is repeated after a deadlock", async () => {
    const [personA, personB] = [await service.signIn(), await service.signIn()];
    const { db } = service.app.services;
    let resolveBothInside = (): void => undefined;
    const bothInside = new Promise<void>((resolve) => {
      resolveBothInside = resolve;
    });
    let transactionsInside = 0;
    const updateBoth = async (firstId: string, secondId: string): Promise<void> => {
      await db.transaction(async (tx) => {
        await tx
          .update(accounts)
          .set({ plan: "free" })
          .where(sql`id = ${firstId}`);
        transactionsInside += 1;
        if (transactionsInside === 2) resolveBothInside();
        await bothInside;
        await tx
          .update(accounts)
          .set({ plan: "free" })
          .where(sql`id = ${secondId}`);
      });
    };
    await Promise.all([updateBoth(personA.userId, personB.userId), updateBoth(personB.userId, personA.userId)]);
    expect(transactionsInside).toBeGreaterThanOrEqual(3); // 4 where the other one waited too long
  });

  it("is repeated a few times, then answered 503", async () => {
    const { db } = service.app.services;
    let runCount = 0;
    const failedTransaction = db.transaction(async (tx) => {
      runCount += 1;
      await tx.execute(sql`do $$ begin raise exception 'x' using errcode = '40001'; end $$`);
    });
    await expect(failedTransaction).rejects.toThrow();
    expect(runCount).toBe(4);
  });
});

describe("an unavailable database", () => {
  it.each(["40001", "40P01", "53300", "57P03", "25006", "55P03", "57014", "08006"])(
    "gives 503 with Retry-After for %s",
    async (code) => {
      const person = await service.signIn();
      await faultInjector.query(
        `create or replace function refuse() returns trigger language plpgsql as $$ begin raise exception 'planted' using errcode = '${code}'; end $$`,
      );
      await faultInjector.query(
        "create or replace trigger refuses before update on secrets for each statement execute function refuse()",
      );
      try {
        const { body } = buildSecret(person);
        await service.call("POST", "/secrets/store", person.token, { body });
        const response = await service.call("PATCH", "/secrets/favorite", person.token, {
          body: { secret_db_id: body.secret_db_id, favorite: true },
        });
        expect(response).toMatchObject({ status: 503, body: { code: "service_unavailable" } });
        expect(Number(response.headers["retry-after"])).toBeGreaterThan(0);
        expect(response.text).not.toContain("planted");
      } finally {
        await faultInjector.query("drop trigger refuses on secrets");
      }
    },
  );
});

describe("the process", () => {
  it("survives connections that end during reads, writes and transactions, and answers each call", async () => {
    const serviceProcess = await prepareServiceProcess();
    try {
      const { url, child } = await serviceProcess.start();
      const processFaultInjector = await openFaultInjector(serviceProcess.variables["DATABASE_URL"] ?? "");
      const token = await serviceProcess.signIn(url, "ana");
      const headers = { "content-type": "application/json", authorization: `Bearer ${token}` };
      await processFaultInjector.lockTable("accounts");
      const calls = [
        fetch(`${url}/user/me`, { headers }),
        fetch(`${url}/user/me`, { method: "POST", headers, body: JSON.stringify({ user_name: "ana-2" }) }),
        fetch(`${url}/secrets/store`, { headers }),
      ];
      await processFaultInjector.waitForBlocked(3);
      expect(await processFaultInjector.terminate("all")).toBeGreaterThanOrEqual(3);
      await processFaultInjector.release();
      expect((await Promise.all(calls)).map(({ status }) => status)).toEqual([200, 200, 200]);
      await processFaultInjector.close();
      expect(child.exitCode).toBeNull();
      expect((await fetch(`${url}/readyz`)).status).toBe(200);
    } finally {
      await serviceProcess.stop();
    }
  });
});
