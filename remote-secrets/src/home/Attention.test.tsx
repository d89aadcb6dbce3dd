import { screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";

import type { SecretRow } from "@relicario/shared/contract";
import { createFakeHttpClient, createFakeVault, expectAccessible, renderApp } from "@relicario/shared/testing";
import { createMe } from "../testing/me.ts";
import { Attention, findExpiringShares } from "./Attention.tsx";

const dayMilliseconds = 86_400_000;
const now = Date.parse("2026-11-21T12:00:00Z");
const daysAgo = (days: number, from = now) => new Date(from - days * dayMilliseconds).toISOString();

function createRow(
  title: string,
  updatedAt: string,
  overrides: Partial<SecretRow> = {},
  copyCheckedAt: string | null = null,
): SecretRow {
  const label = {
    title,
    tags: [],
    contentKind: "text" as const,
    name: "secret.txt",
    size: 1,
    openers: [],
    copyCheckedAt,
    kits: [],
  };
  return {
    secretId: `id-${title}`,
    version: 1,
    rev: 1,
    favorite: false,
    sealedSize: 1,
    createdAt: updatedAt,
    updatedAt,
    deletedAt: null,
    droppedAt: null,
    label,
    ...overrides,
  };
}

describe("endingSoon", () => {
  const createShare = (secretId: string, hours: number) => ({
    shareId: `${secretId}-${String(hours)}`,
    secretId,
    version: 1,
    audience: "public" as const,
    createdAt: daysAgo(5),
    expiresAt: new Date(now + hours * 3_600_000).toISOString(),
    revokedAt: null,
  });
  const rows = [createRow("a", daysAgo(1)), createRow("b", daysAgo(1)), createRow("c", daysAgo(1))];

  it("finds secrets whose last share ends within two days, the soonest first", () => {
    const shares = [createShare("id-a", 40), createShare("id-b", 3), createShare("id-c", 3), createShare("id-c", 100)];
    expect(findExpiringShares(shares, rows, now).map(({ title }) => title)).toEqual(["b", "a"]);
  });

  it("names no share of a secret that is not there", () => {
    expect(findExpiringShares([createShare("other", 3)], rows, now)).toEqual([]);
  });
});

describe("Attention", () => {
  it("says which secret to try, and goes there", async () => {
    const { record } = await renderApp(
      <main>
        <h1>Home</h1>
        <Attention vault={createFakeVault()} rows={[createRow("Diary", daysAgo(200, Date.now()))]} />
      </main>,
    );
    expect(await screen.findByText("One secret was not opened for long")).toBeVisible();
    await expectAccessible();
    await userEvent.click(screen.getByRole("button", { name: "Try with “Diary”" }));
    expect(record.paths).toEqual(["/provide-image-recovery?check=id-Diary"]);
  });

  it("says that a share is about to expire, and leads to it", async () => {
    const vault = createFakeVault({
      secrets: [{ title: "Diary", content: "x" }],
      shares: [{ shareId: "one", secretId: "id-Diary", expiresAt: new Date(Date.now() + 3_600_000).toISOString() }],
    });
    await renderApp(
      <main>
        <h1>Home</h1>
        <Attention vault={vault} rows={[createRow("Diary", daysAgo(1, Date.now()))]} />
      </main>,
    );
    expect(await screen.findByText("A share of “Diary” is about to expire")).toBeVisible();
    expect(screen.getByRole("link", { name: "Go to its shares" })).toHaveAttribute("href", "/share/id-Diary");
    await expectAccessible();
  });

  it("tells the service when the first secret is due, once, and nothing where it knows", async () => {
    const rows = [
      createRow("Diary", "2026-11-01T09:00:00.000Z"),
      createRow("Letter", "2026-11-05T09:00:00.000Z", {}, "2026-11-10T09:00:00.000Z"),
    ];
    const dueAt = "2027-04-30T09:00:00.000Z";
    const meWithDueDate = { ...createMe("alba@example.org", true), rehearsal_due_at: dueAt };
    const http = createFakeHttpClient({
      "GET /user/me": () => createMe("alba@example.org", true),
      "POST /user/me": () => meWithDueDate,
    });
    await renderApp(<Attention vault={createFakeVault()} rows={rows} />, { http });
    await waitFor(() => {
      expect(http.calls.filter(({ method }) => method === "POST").map(({ body }) => body)).toEqual([
        { rehearsal_due_at: dueAt },
      ]);
    });
    const upToDateHttp = createFakeHttpClient({ "GET /user/me": () => meWithDueDate });
    const { queryClient } = await renderApp(<Attention vault={createFakeVault()} rows={rows} />, {
      http: upToDateHttp,
    });
    await waitFor(() => {
      expect(queryClient.isFetching()).toBe(0);
    });
    expect(upToDateHttp.calls.map(({ method }) => method)).toEqual(["GET"]);
  });

  it("tells nothing of secrets whose labels are locked", async () => {
    const http = createFakeHttpClient({
      "GET /user/me": () => ({ ...createMe("alba@example.org", true), rehearsal_due_at: "2027-04-30T09:00:00.000Z" }),
    });
    const { queryClient } = await renderApp(
      <Attention vault={createFakeVault()} rows={[createRow("locked", daysAgo(1), { label: null })]} />,
      { http },
    );
    await waitFor(() => {
      expect(queryClient.isFetching()).toBe(0);
    });
    expect(http.calls.map(({ method }) => method)).toEqual(["GET"]);
  });

  it("is not there when all is well", async () => {
    await renderApp(<Attention vault={createFakeVault()} rows={[createRow("Diary", daysAgo(1, Date.now()))]} />);
    expect(screen.queryByRole("heading")).not.toBeInTheDocument();
  });

  it.each([
    [null, false, "We have no e-mail address to warn you"],
    ["alba@example.org", false, "Your e-mail address is not confirmed"],
  ] as const)("says that the address %s (confirmed: %s) needs attention", async (address, verified, title) => {
    await renderApp(<Attention vault={createFakeVault()} rows={[]} />, {
      http: createFakeHttpClient({ "GET /user/me": () => createMe(address, verified) }),
    });
    expect(await screen.findByText(title)).toBeVisible();
    expect(screen.getByRole("link", { name: "Go to your profile" })).toHaveAttribute("href", "/settings/profile");
  });

  it("says nothing of an address that is confirmed", async () => {
    const http = createFakeHttpClient({ "GET /user/me": () => createMe("alba@example.org", true) });
    const { queryClient } = await renderApp(<Attention vault={createFakeVault()} rows={[]} />, { http });
    await waitFor(() => {
      expect(queryClient.isFetching()).toBe(0);
    });
    expect(http.calls).toHaveLength(1);
    expect(screen.queryByRole("heading")).not.toBeInTheDocument();
  });
});
