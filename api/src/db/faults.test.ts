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

/** Cuts the connection of the call while it waits for the table. @returns its answer. */
const cutConnectionAt = async <T>(table: string, call: () => Promise<T>): Promise<T> => {
  await faultInjector.lockTable(table);
  const answer = call();
  answer.catch(() => undefined); // it may fail before it is waited for
  await faultInjector.waitForBlocked(1);
  await faultInjector.terminate("waiting");
  await faultInjector.release();
  return answer;
};

describe("a connection that is terminated", () => {
  it("while it reads: the read is done again", async () => {
    const person = await service.signIn();
    expect(await cutConnectionAt("accounts", () => service.call("GET", "/user/me", person.token))).toMatchObject({
      status: 200,
      body: { user_id: person.userId },
    });
  });

  it("while the session is looked up: it is looked up again", async () => {
    const person = await service.signIn();
    expect(
      await cutConnectionAt("sessions", () =>
        service.call("POST", "/secrets/store/get-secret", person.token, {
          body: { secret_db_id: "0199aaaa-0000-7000-8000-000000000000" },
        }),
      ),
    ).toMatchObject({ status: 404 });
  });

  it("inside a transaction before its commit: it is run again, and the write is there once", async () => {
    const person = await service.signIn();
    const { body } = buildSecret(person);
    expect(
      await cutConnectionAt("keyrings", () => service.call("POST", "/secrets/store", person.token, { body })),
    ).toMatchObject({ status: 200, body: { version: 1, state_rev: 1 } });
    confirmChange(person, body.keyring);
    const { body: page } = await service.call("GET", "/secrets/store", person.token);
    expect(page).toMatchObject({ total: 1, state_rev: 1 });
  });

  it("while it is idle: nobody notices", async () => {
    const person = await service.signIn();
    await service.call("GET", "/user/me", person.token);
    expect(await faultInjector.terminate("all")).toBeGreaterThan(0);
    expect((await service.call("GET", "/user/me", person.token)).status).toBe(200);
  });

  describe("when the commit was sent and its answer lost", () => {
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

    it("the transaction is not run again by itself", async () => {
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

    it("a call that answers the same once more is run again as a whole", async () => {
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

    it("any other call is answered 503", async () => {
      const person = await service.signIn();
      const form = await buildLargeContent({ bytes: 100 }).start();
      const response = await cutConnectionAt("gate", () =>
        service.call("POST", "/v2/secrets/secret", person.token, form),
      );
      expect(response).toMatchObject({ status: 503, headers: { "retry-after": "3" } });
    });
  });
});

describe("a transaction that the database refused to put in order", () => {
  it("is run again after a deadlock", async () => {
    const [personA, personB] = [await service.signIn(), await service.signIn()];
    const { db } = service.app.services;
    let resolveBothInside = (): void => undefined;
    const bothInside = new Promise<void>((resolve) => {
      resolveBothInside = resolve;
    });
    let transactionsInside = 0;
    const updateBoth = async (first: string, second: string): Promise<void> => {
      await db.transaction(async (tx) => {
        await tx
          .update(accounts)
          .set({ plan: "free" })
          .where(sql`id = ${first}`);
        transactionsInside += 1;
        if (transactionsInside === 2) resolveBothInside();
        await bothInside;
        await tx
          .update(accounts)
          .set({ plan: "free" })
          .where(sql`id = ${second}`);
      });
    };
    await Promise.all([updateBoth(personA.userId, personB.userId), updateBoth(personB.userId, personA.userId)]);
    expect(transactionsInside).toBe(3);
  });

  it("is run again a few times, then the caller is asked to come back", async () => {
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

describe("what cannot be had", () => {
  it.each(["40001", "40P01", "53300", "57P03", "25006", "55P03", "57014", "08006"])(
    "is 503 with Retry-After when the database says %s each time",
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
  it("lives on when connections end under reads, writes and transactions, and each call is answered", async () => {
    const serviceProcess = await prepareServiceProcess();
    try {
      const { address, child } = await serviceProcess.start();
      const processFaultInjector = await openFaultInjector(serviceProcess.variables["DATABASE_URL"] ?? "");
      const token = await serviceProcess.signIn(address, "ana");
      const headers = { "content-type": "application/json", authorization: `Bearer ${token}` };
      await processFaultInjector.lockTable("accounts");
      const calls = [
        fetch(`${address}/user/me`, { headers }),
        fetch(`${address}/user/me`, { method: "POST", headers, body: JSON.stringify({ user_name: "ana-2" }) }),
        fetch(`${address}/secrets/store`, { headers }),
      ];
      await processFaultInjector.waitForBlocked(3);
      expect(await processFaultInjector.terminate("all")).toBeGreaterThanOrEqual(3);
      await processFaultInjector.release();
      expect((await Promise.all(calls)).map(({ status }) => status)).toEqual([200, 200, 200]);
      await processFaultInjector.close();
      expect(child.exitCode).toBeNull();
      expect((await fetch(`${address}/readyz`)).status).toBe(200);
    } finally {
      await serviceProcess.stop();
    }
  });
});
