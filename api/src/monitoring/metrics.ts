import { Gauge, type Registry } from "prom-client";

import type { Db } from "../db/database.ts";
import { readMailQueue, type MailQueue } from "../mail/read-queue.ts";
import { withTimeout } from "./with-timeout.ts";

/** Mails of all processes. Without the database neither metric has a value. */
export function measureMailQueue(registry: Registry, { db, now }: { readonly db: Db; readonly now: () => Date }): void {
  let pendingRead: Promise<MailQueue | null> | null = null;
  const readOnce = (): Promise<MailQueue | null> => {
    pendingRead ??= withTimeout(readMailQueue(db))
      .catch(() => null) // relicario_dependency_up says so
      .finally(() => {
        pendingRead = null;
      });
    return pendingRead;
  };
  new Gauge({
    name: "relicario_mail_queue_length",
    help: "Mails that are not sent yet",
    registers: [registry],
    async collect() {
      const queue = await readOnce();
      if (queue === null) this.remove();
      else this.set(queue.length);
    },
  });
  new Gauge({
    name: "relicario_mail_queue_age_seconds",
    help: "Time since the oldest mail that is not sent yet was queued; 0 without mails",
    registers: [registry],
    async collect() {
      const queue = await readOnce();
      if (queue === null) this.remove();
      else this.set(queue.oldestAt === null ? 0 : (now().getTime() - queue.oldestAt.getTime()) / 1_000);
    },
  });
}

type Dependency = "database" | "object_store" | "identity_provider";

/** Asks what the service depends on whether it answers, as readiness checks do. */
export function measureDependencies(
  registry: Registry,
  checks: Readonly<Record<Dependency, () => Promise<unknown>>>,
): void {
  new Gauge({
    name: "relicario_dependency_up",
    help: "Whether database, object store and identity provider answer this process: 1 or 0",
    labelNames: ["dependency"],
    registers: [registry],
    async collect() {
      await Promise.all(
        Object.entries(checks).map(async ([dependency, check]) => {
          const isUp = await withTimeout(check()).then(
            () => true,
            () => false,
          );
          this.set({ dependency }, isUp ? 1 : 0);
        }),
      );
    },
  });
}
