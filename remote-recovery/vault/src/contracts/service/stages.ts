import { createHash } from "node:crypto";

import {
  buildChange,
  buildJwe,
  buildLabel,
  buildRecipient,
  buildSecret,
  buildSlot,
  confirmChange,
  createSigner,
  computeDigest,
  signDocument,
  type Signer,
} from "@relicario/api/testing/person";
import { buildRequest, buildShare } from "@relicario/api/testing/sharing";
import { encodeCanonical, type StagedRow, type Json, type KeyringChange } from "@relicario/shared/api";

import { createAnswerCalls } from "../../requests/answer-calls.ts";
import { newId } from "../../seal/ids.ts";
import {
  allPages,
  digestB64u,
  expectRefusal,
  randomB64u,
  putChange,
  signInWithSecret,
  stateOf,
  storeSecret,
  type Account,
  type ServiceUnderTest,
} from "./service-under-test.ts";

type Rows = readonly [StagedRow, StagedRow, StagedRow];

/**
 * A person with a secret of two versions and one of a single version, and rows that re-seal all of
 * it.
 */
async function prepareStage(
  service: ServiceUnderTest,
  epoch = 1,
): Promise<{ account: Account; first: string; second: string; stageId: string; rows: Rows }> {
  const {
    account,
    first: { id: first },
  } = await signInWithSecret(service);
  await storeSecret(account, { id: first, base: 1 });
  const { id: second } = await storeSecret(account);
  const { signer } = account;
  const rows: Rows = [
    {
      secret_db_id: first,
      version: 2,
      label: buildLabel(signer, first, 2, 2, epoch),
      ticket: randomB64u(1_900),
      content: randomB64u(900),
    },
    { secret_db_id: first, version: 1, ticket: randomB64u(1_800), content: randomB64u(500) },
    { secret_db_id: second, version: 1, label: buildLabel(signer, second, 1, 2, epoch), ticket: randomB64u(1_700) },
  ];
  return { account, first, second, stageId: newId(Date.now()), rows };
}

const sortRows = (rows: readonly StagedRow[]): StagedRow[] =>
  [...rows].sort((left, right) =>
    left.secret_db_id === right.secret_db_id
      ? left.version - right.version
      : left.secret_db_id < right.secret_db_id
        ? -1
        : 1,
  );
const digestOfRows = (rows: readonly StagedRow[]): string =>
  computeDigest(
    sortRows(rows)
      .map(
        (row) =>
          `${row.secret_db_id} ${String(row.version)} ${createHash("sha256").update(encodeCanonical(row)).digest("hex")}\n`,
      )
      .join(""),
  );

const buildSwitch = (
  { signer }: Account,
  stageId: string,
  rows: readonly StagedRow[],
  overrides: Readonly<Record<string, Json | undefined>> = {},
): KeyringChange => buildChange(signer, { stage_id: stageId, stage_sha256: digestOfRows(rows), ...overrides });

const listStaged = ({ calls }: Account, stageId: string): Promise<unknown[]> =>
  allPages(async (cursor) => {
    const page = await calls.getStagedRows(stageId, cursor);
    return { rows: page.rows, next: page.next_cursor };
  });

/** The statement of a new account key, signed by the one before too. */
function buildRotatedStatement(signer: Signer, next: Signer): Json {
  const { x } = next.signingKey.export({ format: "jwk" });
  const body = {
    v: 1,
    user_id: signer.userId,
    recipient: buildRecipient().replace(/q$/, "p"),
    signing_key: String(x),
    key_epoch: 2,
  };
  const { sig: previousSig } = signDocument("key", body, signer.signingKey);
  return signDocument("key", { ...body, previous_sig: previousSig }, next.signingKey);
}

/** The change to a new account key, signed by the one before. */
function buildRotation(
  account: Account,
  next: Signer,
  stageId: string,
  rows: readonly StagedRow[],
  overrides: Readonly<Record<string, Json | undefined>> = {},
): KeyringChange {
  const { signer } = account;
  const header = { user_id: signer.userId, key_epoch: 2 };
  return buildSwitch(account, stageId, rows, {
    key_epoch: 2,
    state: buildJwe({ typ: "relicario-state", ...header, previous: computeDigest(String(signer.state)) }),
    book: buildJwe({ typ: "relicario-book", ...header }),
    shares: buildJwe({ typ: "relicario-shares", ...header }),
    slots: { set: [buildSlot(signer.imageId)], remove: [] },
    key_statement: buildRotatedStatement(signer, next),
    ...overrides,
  });
}

export function describeStages(service: () => ServiceUnderTest): void {
  describe("rows that were staged", () => {
    it("show nowhere until a change switches to them, and replace labels, tickets and contents then", async () => {
      const { account, first, second, stageId, rows } = await prepareStage(service());
      const { calls } = account;
      const before = await stateOf(account);
      await calls.stage(stageId, rows.slice(0, 1));
      await calls.stage(stageId, rows);
      expect(await stateOf(account)).toEqual(before);
      expect(await listStaged(account, stageId)).toEqual(
        sortRows(rows).map((row) => ({
          secret_db_id: row.secret_db_id,
          version: row.version,
          row_sha256: digestB64u(encodeCanonical(row)),
        })),
      );
      await putChange(account, buildSwitch(account, stageId, rows));
      expect(await calls.getSecret(first, 2)).toMatchObject({
        label: rows[0].label,
        ticket: rows[0].ticket,
        content: rows[0].content,
      });
      expect(await calls.getSecret(first, 1)).toMatchObject({
        label: rows[0].label,
        ticket: rows[1].ticket,
        content: rows[1].content,
      });
      expect(await calls.getSecret(second, 1)).toMatchObject({ label: rows[2].label, ticket: rows[2].ticket });
      expect(await calls.getVersions(first)).toMatchObject([
        { version: 2, size: 900 },
        { version: 1, size: 500 },
      ]);
      await expectRefusal(calls.getStagedRows(stageId, null), "not_found");
    });

    it("are one stage at a time: another id begins a new one", async () => {
      const { account, stageId, rows } = await prepareStage(service());
      const otherStageId = newId(Date.now());
      await account.calls.stage(stageId, rows);
      await account.calls.stage(otherStageId, rows.slice(2));
      await expectRefusal(account.calls.getStagedRows(stageId, null), "not_found");
      await expectRefusal(account.calls.changeKeyring(buildSwitch(account, stageId, rows)), "conflict");
      expect(await listStaged(account, otherStageId)).toHaveLength(1);
      await putChange(account, buildSwitch(account, otherStageId, rows.slice(2)));
    });

    it("are switched to when the digest is of all of them", async () => {
      const { account, stageId, rows } = await prepareStage(service());
      await account.calls.stage(stageId, rows);
      const before = await stateOf(account);
      await expectRefusal(account.calls.changeKeyring(buildSwitch(account, stageId, rows.slice(0, 2))), "conflict");
      await expectRefusal(account.calls.changeKeyring(buildSwitch(account, newId(Date.now()), rows)), "conflict");
      expect(await stateOf(account)).toEqual(before);
    });

    it("are refused where they are of no such row", async () => {
      const { account, first, stageId, rows } = await prepareStage(service());
      const { calls, signer } = account;
      const refusedRows: [StagedRow, "not_found" | "version_conflict" | "keyring_change_invalid"][] = [
        [{ secret_db_id: newId(Date.now()), version: 1, ticket: randomB64u(90) }, "not_found"],
        [{ secret_db_id: first, version: 3, ticket: randomB64u(90) }, "not_found"],
        [{ secret_db_id: first, version: 2, ticket: randomB64u(90) }, "version_conflict"],
        [
          { secret_db_id: first, version: 1, label: buildLabel(signer, first, 1), ticket: randomB64u(90) },
          "version_conflict",
        ],
        [{ secret_db_id: first, version: 2, label: buildLabel(signer, first, 1) }, "keyring_change_invalid"],
        [{ secret_db_id: first, version: 2, label: buildLabel(signer, first, 2, 2, 3) }, "keyring_change_invalid"],
      ];
      for (const [row, code] of refusedRows) await expectRefusal(calls.stage(stageId, [row]), code);
      await expectRefusal(calls.getStagedRows(stageId, null), "not_found");
      await putChange(account, buildChange(signer, { purge_versions: [{ secret_db_id: first, versions: [1] }] }));
      await expectRefusal(calls.stage(stageId, [rows[1]]), "content_gone");
      await expectRefusal((await service().signIn()).calls.stage(stageId, []), "no_keyring");
    });

    it("are not switched to once what they were sealed from has changed", async () => {
      const { account, first, second, stageId, rows } = await prepareStage(service());
      await account.calls.stage(stageId, rows);
      await storeSecret(account, { id: second, base: 1 });
      await expectRefusal(account.calls.changeKeyring(buildSwitch(account, stageId, rows)), "conflict");
      const singleRow = [rows[1]];
      await account.calls.stage(newId(Date.now()), singleRow);
      const lastStageId = newId(Date.now());
      await account.calls.stage(lastStageId, singleRow);
      // a former one without the label that commits to it
      await expectRefusal(account.calls.changeKeyring(buildSwitch(account, lastStageId, singleRow)), "conflict");
      expect(await account.calls.getSecret(first, 2)).not.toMatchObject({ label: rows[0].label });
    });

    it("end the shares of a content that was re-sealed, and no others", async () => {
      const { account, first, second, stageId, rows } = await prepareStage(service());
      const { calls, signer } = account;
      for (const [id, version] of [
        [first, 2],
        [second, 1],
      ] as const) {
        const share = buildShare(signer, id, { version });
        await calls.shares.create(share.body);
        confirmChange(signer, share.body.keyring);
      }
      await calls.stage(stageId, rows);
      await putChange(account, buildSwitch(account, stageId, rows));
      expect(await calls.shares.listOfSecret(first)).toMatchObject([{ end: "ended" }]);
      expect(await calls.shares.listOfSecret(second)).toMatchObject([{ end: null }]);
    });

    it("go with no secret", async () => {
      const { account, stageId, rows } = await prepareStage(service());
      await account.calls.stage(stageId, rows);
      await expectRefusal(
        account.calls.store(
          buildSecret(account.signer, { change: { stage_id: stageId, stage_sha256: digestOfRows(rows) } }).body,
        ),
        "keyring_change_invalid",
      );
    });
  });

  describe("a new account key", () => {
    it("takes all rows, slots and documents with it, and the key before signs nothing more", async () => {
      const { account, first, stageId, rows } = await prepareStage(service(), 2);
      const { calls, signer } = account;
      const next = { ...createSigner(signer.userId), imageId: signer.imageId };
      await calls.stage(stageId, rows);
      const change = buildRotation(account, next, stageId, rows);
      await putChange(account, change);
      expect(await calls.getKeyring(null)).toMatchObject({
        key_epoch: 2,
        state_rev: 4,
        key_statement: change.key_statement,
        slots: change.slots?.set,
        book: change.book,
      });
      expect(await calls.getSecret(first, null)).toMatchObject({ label: rows[0].label, ticket: rows[0].ticket });
      const state = buildJwe({
        typ: "relicario-state",
        user_id: signer.userId,
        key_epoch: 2,
        previous: computeDigest(change.state),
      });
      const later = { key_epoch: 2, state };
      await expectRefusal(calls.changeKeyring(buildChange(signer, later)), "keyring_change_invalid");
      await calls.changeKeyring(buildChange({ ...next, stateRev: signer.stateRev, state: signer.state }, later));
    });

    it("closes the requests that wait for an answer", async () => {
      const { account, stageId, rows } = await prepareStage(service(), 2);
      const { calls, signer } = account;
      const request = buildRequest(signer);
      await calls.requests.create(request.body);
      confirmChange(signer, request.body.keyring);
      const next = createSigner(signer.userId);
      await calls.stage(stageId, rows);
      await expectRefusal(calls.changeKeyring(buildRotation(account, next, stageId, rows)), "keyring_change_invalid");
      await putChange(
        account,
        buildRotation(account, next, stageId, rows, {
          requests: buildJwe({ typ: "relicario-requests", user_id: signer.userId, key_epoch: 2 }),
        }),
      );
      expect(await calls.requests.list()).toMatchObject([{ state: "revoked" }]);
      await expectRefusal(
        createAnswerCalls(service().visitor).inspect(request.requestId, request.linkAuth),
        "request_unavailable",
      );
    });

    it("is refused when something of the key before would stay", async () => {
      const { account, second, stageId, rows } = await prepareStage(service(), 2);
      const { calls, signer } = account;
      const next = createSigner(signer.userId);
      await calls.stage(stageId, rows);
      const before = await stateOf(account);
      const overrides: Readonly<Record<string, Json | undefined>>[] = [
        { book: undefined },
        { shares: undefined },
        { slots: undefined },
        { slots: { set: [], remove: [] } },
        { stage_id: undefined, stage_sha256: undefined },
        { key_statement: buildRotatedStatement(createSigner(signer.userId), next) },
        {
          key_statement: buildRotatedStatement(signer, {
            ...next,
            userId: newId(Date.now()),
            signingKey: signer.signingKey,
          }),
        },
      ];
      for (const change of overrides)
        await expectRefusal(
          calls.changeKeyring(buildRotation(account, next, stageId, rows, change)),
          "keyring_change_invalid",
        );
      const partialRows = rows.filter(({ secret_db_id: id }) => id !== second);
      const otherStageId = newId(Date.now());
      await calls.stage(otherStageId, partialRows);
      await expectRefusal(calls.changeKeyring(buildRotation(account, next, otherStageId, partialRows)), "conflict");
      expect(await stateOf(account)).toEqual(before);
    });
  });
}
