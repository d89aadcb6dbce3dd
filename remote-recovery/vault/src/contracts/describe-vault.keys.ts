import { code, first, idsOf, textOf, type MakeStage } from "./describe-vault.stage.ts";

const deed = { secrets: [{ title: "Deed", content: "house" }] };
/** A code of 12 words with its checksum, which no device shows. */
const unknown = "legal winner thank year wave sausage worth useful legal winner thank yellow";

export function describeKeys(make: MakeStage): void {
  describe("another device", () => {
    it("offers its passkey, and is unlocked once the device at hand admits it", async () => {
      const { vault, shownKey, admitElsewhere } = await make({ ...deed, unlocked: false });
      await vault.refresh();
      const made = { shown: shownKey("passkey", "7"), name: "New laptop" };
      await expect(vault.deviceLinks.offer({ ...made, name: "" })).rejects.toEqual(
        code("validation_error", { fields: ["name"] }),
      );
      const offer = await vault.deviceLinks.offer(made);
      expect(offer.words).toHaveLength(12);
      expect(Date.parse(offer.expiresAt)).toBeGreaterThan(Date.now());
      await admitElsewhere(offer.words);
      await vault.deviceLinks.join(offer, made.shown);
      expect(vault.getState()).toEqual({ status: "unlocked", device: null });
      const [id] = await idsOf(vault);
      expect(textOf(await vault.recover(id, made.shown))).toBe("house");
      await expect(vault.openers.list()).resolves.toMatchObject({
        openers: [{ kind: "image" }, { kind: "passkey", name: "New laptop", opens: 1 }],
      });
    });

    it("waits no longer than its code lasts, or until it is left", async () => {
      const { vault, shown, shownKey } = await make({ ...deed, unlocked: false });
      await vault.refresh();
      const passkey = shownKey("passkey", "7");
      const { words } = await vault.openers.newRecoveryCode();
      await expect(vault.deviceLinks.offer({ shown: shown("garden"), name: "x" })).rejects.toEqual(
        code("opener_needed"),
      );
      await expect(
        vault.deviceLinks.offer({ shown: shownKey("recovery_code", words.join(" ")), name: "x" }),
      ).rejects.toEqual(code("validation_error", { fields: ["shown"] }));
      const offer = await vault.deviceLinks.offer({ shown: passkey, name: "New laptop" });
      await expect(vault.deviceLinks.join({ ...offer, expiresAt: new Date(0).toISOString() }, passkey)).rejects.toEqual(
        code("device_link_expired"),
      );
      const leaving = new AbortController();
      const joining = vault.deviceLinks.join(offer, passkey, { signal: leaving.signal });
      leaving.abort();
      await expect(joining).rejects.toEqual(code("cancelled"));
      expect(vault.getState()).toEqual({ status: "locked" });
    });

    it("is admitted by its code", async () => {
      const { vault, shown, code: shownCode } = await make({ ...deed, asking: { name: "New laptop" } });
      await expect(vault.deviceLinks.look(shownCode.toUpperCase())).resolves.toEqual({
        name: "New laptop",
        secrets: 1,
      });
      const { openers } = await vault.openers.list();
      expect(openers).toHaveLength(1); // a look changes nothing
      await expect(vault.deviceLinks.admit(shownCode, shown("sea"))).rejects.toEqual(code("not_this_picture"));
      const steps: string[] = [];
      await expect(
        vault.deviceLinks.admit(shownCode, shown("garden"), {
          onProgress: ({ phase, done, total }) => steps.push(`${phase} ${String(done)}/${String(total)}`),
        }),
      ).resolves.toEqual({ covered: 1, left: [], answered: true });
      expect(steps).toEqual(expect.arrayContaining(["sealing 0/1", "sealing 1/1"]));
      await expect(vault.openers.list()).resolves.toMatchObject({
        openers: [{ kind: "image" }, { kind: "passkey", name: "New laptop", opens: 1, served: true }],
      });
    });

    it("is not found by another code", async () => {
      const { vault, shown, code: shownCode } = await make({ ...deed, asking: { name: "New laptop" } });
      for (const act of [
        (typed: string) => vault.deviceLinks.look(typed),
        (typed: string) => vault.deviceLinks.admit(typed, shown("garden")),
      ]) {
        await expect(act(unknown)).rejects.toEqual(code("device_link_unavailable"));
        await expect(act("abandon ability")).rejects.toEqual(code("device_code_unreadable", { words: 2 }));
        await expect(act(shownCode.replace(/^\w+/, "relicario"))).rejects.toEqual(
          code("device_code_unreadable", { unknown: ["1"] }),
        );
      }
      await vault.lock();
      await expect(vault.deviceLinks.look(shownCode)).rejects.toEqual(code("vault_locked"));
      await expect(vault.deviceLinks.admit(shownCode, shown("garden"))).rejects.toEqual(code("vault_locked"));
      await expect(vault.deviceLinks.look("abandon")).rejects.toEqual(code("device_code_unreadable"));
    });
  });

  describe("an account that begins anew", () => {
    it("is asked for once, and given up", async () => {
      const { vault } = await make({ ...deed, unlocked: false });
      await vault.refresh();
      await expect(vault.startAnew.end("objected")).resolves.toMatchObject({ state: "none" });
      const asked = await vault.startAnew.ask();
      expect(asked).toEqual({
        state: "waiting",
        askedAt: expect.any(String) as string,
        readyAt: expect.any(String) as string,
        endedAt: null,
        keptUntil: null,
      });
      await expect(vault.startAnew.ask()).resolves.toEqual(asked);
      await expect(vault.startAnew.status()).resolves.toEqual(asked);
      await expect(vault.startAnew.end("cancelled")).resolves.toMatchObject({
        state: "cancelled",
        endedAt: expect.any(String) as string,
        keptUntil: null,
      });
      await expect(vault.startAnew.end("objected")).resolves.toMatchObject({ state: "cancelled" });
    });

    it("is not begun before its time", async () => {
      const { vault, shown } = await make({ ...deed, startAnew: "waiting", unlocked: false });
      await expect(vault.startAnew.begin({ shown: shown("lake"), name: "Lake" })).rejects.toEqual(code("conflict"));
      await expect(vault.startAnew.end("objected")).resolves.toMatchObject({ state: "objected" });
      await vault.unlock(shown("garden"));
      expect(first(await vault.list()).label?.title).toBe("Deed");
    });

    it.each([true, false])("has its picture alone and nothing of before (unlocked: %s)", async (unlocked) => {
      const { vault, shown, shownKey } = await make({
        ...deed,
        keys: [{ kind: "passkey", name: "Phone", secret: "7" }],
        asked: [{ title: "The permit" }],
        startAnew: "ready",
        unlocked,
        device: "own",
      });
      await vault.refresh();
      await expect(vault.startAnew.begin({ shown: shown("lake"), name: "" })).rejects.toEqual(
        code("validation_error", { fields: ["name"] }),
      );
      await expect(vault.startAnew.begin({ shown: shownKey("passkey", "7"), name: "Lake" })).rejects.toEqual(
        code("picture_needed"),
      );
      await vault.startAnew.begin({ shown: shown("lake"), name: "Lake" });
      expect(vault.getState()).toEqual({ status: "unlocked", device: "own" });
      await expect(vault.startAnew.status()).resolves.toMatchObject({
        state: "begun",
        keptUntil: expect.any(String) as string,
      });
      for (const list of [vault.list, vault.shares.all, vault.people.list]) await expect(list()).resolves.toEqual([]);
      await expect(vault.openers.list()).resolves.toMatchObject({
        openers: [{ kind: "image", name: "Lake" }],
        secrets: [],
      });
      await expect(vault.unlock(shown("garden"))).rejects.toEqual(code("not_this_picture"));
      await expect(vault.unlock(shownKey("passkey", "7"))).rejects.toEqual(code("not_this_passkey"));
      await vault.unlock(shown("lake"));
    });
  });
}
