import {
  errorWithCode,
  listSecretIds,
  unknownSecretId,
  textContent,
  textSecret,
  type CreateHarness,
} from "./describe-vault.harness.ts";

/** An id that no share and no request has. */
const unknownShareId = "AAAAAAAAAAAAAAAAAAAAAA";

export function describeCancellation(make: CreateHarness): void {
  it("rejects every operation that is aborted, and changes nothing", async () => {
    const { vault, makeHandle, makeKeyHandle } = await make({
      secrets: [{ title: "Deed", content: "house" }],
      people: [{ userName: "bruno" }],
      accountReset: "ready",
    });
    const [id] = await listSecretIds(vault);
    const rowsBefore = await vault.list();
    const person = await vault.people.find("bruno");
    const options = { signal: AbortSignal.abort() };
    const [opener, key] = [makeHandle("garden"), makeKeyHandle("passkey", "7")];
    const tomorrow = new Date(Date.now() + 86_400_000).toISOString();
    const operations: Readonly<Record<string, () => Promise<unknown>>> = {
      list: () => vault.list(options),
      protect: () => vault.protect(textSecret("Key", "x"), options),
      update: () => vault.update(id, { baseVersion: 1, title: "x" }, options),
      "update of the content": () => vault.update(id, { baseVersion: 1, content: textContent("x") }, options),
      listVersions: () => vault.listVersions(id, options),
      restoreVersion: () => vault.restoreVersion(id, 1, opener, options),
      removeVersions: () => vault.removeVersions(id, [1], options),
      purge: () => vault.purge([id], options),
      unlock: () => vault.unlock(opener, options),
      openSecret: () => vault.openSecret(id, opener, options),
      checkCopy: () => vault.checkCopy(id, opener, options),
      exportSecrets: () => vault.exportSecrets([id], opener, options),
      createKit: () => vault.createKit([id], opener, options),
      "imports.read": () => vault.imports.read([], { ...options, language: "en" }),
      "imports.compare": () => vault.imports.compare([], options),
      "imports.store": () => vault.imports.store([], opener, options),
      "openers.list": () => vault.openers.list(options),
      "openers.add": () => vault.openers.add({ handle: key, name: "Phone" }, opener, options),
      "openers.resealForAllOpeners": () => vault.openers.resealForAllOpeners(opener, options),
      "openers.remove": () => vault.openers.remove(unknownSecretId, opener, options),
      "openers.recognise": () => vault.openers.recognise(opener, options),
      "openers.rotate": () => vault.openers.rotate([opener], options),
      "openers.replaceImage": () =>
        vault.openers.replaceImage(opener, { handle: makeHandle("lake"), name: "Lake" }, options),
      "accountReset.complete": () => vault.accountReset.complete({ handle: makeHandle("lake"), name: "Lake" }, options),
      "deviceLinks.offer": () => vault.deviceLinks.offer({ handle: key, name: "Laptop" }, options),
      "deviceLinks.inspect": () => vault.deviceLinks.inspect("", options),
      "deviceLinks.approve": () => vault.deviceLinks.approve("", opener, options),
      "shares.create": () =>
        vault.shares.create(
          {
            secretId: id,
            to: { audience: "public" },
            expiresAt: tomorrow,
            maxViews: null,
            password: null,
            picture: null,
            notify: false,
          },
          opener,
          options,
        ),
      "shares.listForSecret": () => vault.shares.listForSecret(id, options),
      "shares.getLink": () => vault.shares.getLink(unknownShareId, null, options),
      "shares.change": () => vault.shares.change(unknownShareId, { maxViews: 1 }, options),
      "shares.updateContent": () => vault.shares.updateContent(unknownShareId, opener, options),
      "shares.revoke": () => vault.shares.revoke(unknownShareId, options),
      "people.find": () => vault.people.find("bruno", options),
      "people.pin": () => vault.people.pin(person, options),
      "received.list": () => vault.received.list(options),
      "received.open": () => vault.received.open(unknownShareId, opener, options),
      "requests.create": () =>
        vault.requests.create(
          { title: "x", note: "", requesterName: "Alba", expiresAt: tomorrow, maxSize: 1, notify: false },
          opener,
          options,
        ),
      "requests.list": () => vault.requests.list(options),
      "requests.getLink": () => vault.requests.getLink(unknownShareId, null, options),
      "requests.open": () => vault.requests.open(unknownShareId, null, options),
      "requests.collect": () => vault.requests.collect(unknownShareId, options),
      "requests.drop": () => vault.requests.drop(unknownShareId, options),
    };
    const codes = await Promise.all(
      Object.entries(operations).map(async ([name, operation]) => [
        name,
        await operation().then(
          () => "none",
          (error: unknown) => (expect(error).toEqual(errorWithCode("cancelled")), "cancelled"),
        ),
      ]),
    );
    expect(Object.fromEntries(codes)).toEqual(
      Object.fromEntries(Object.keys(operations).map((name) => [name, "cancelled"])),
    );
    await expect(vault.list()).resolves.toEqual(rowsBefore);
    await expect(vault.listImages()).resolves.toHaveLength(1);
  });

  it("reports the progress of an operation before it resolves", async () => {
    const { vault, makeHandle } = await make({ secrets: [{ title: "Deed", content: "house" }] });
    await vault.unlock(makeHandle("garden"));
    const phases = new Set<string>();
    const onProgress = ({ phase }: { readonly phase: string }): void => {
      phases.add(phase);
    };
    const [id] = await listSecretIds(vault);
    await vault.protect(textSecret("Key", "door"), { onProgress });
    expect([...phases]).toEqual(expect.arrayContaining(["sealing", "sending"]));
    phases.clear();
    await vault.update(id, { baseVersion: 1, content: textContent("flat") }, { onProgress });
    expect([...phases]).toEqual(expect.arrayContaining(["sealing", "sending"]));
  });
}
