import { screen } from "@testing-library/react";

import { PortalError } from "@relicario/shared/errors";
import { expectAccessible } from "@relicario/shared/testing";
import userEvent from "@testing-library/user-event";

import { renderPage, createService } from "../testing/settings-service.ts";

const features = { billing: true, payments: true };
const use = { storage_quota: 10_000_000_000, storage_used: 2_500_000_000, secrets: 12, shares: 3 };
const invoices = [
  {
    id: "2",
    number: "2026-002",
    issued_at: "2026-10-01T12:00:00.000Z",
    amount: "1234.50",
    currency: "EUR",
    state: "open",
    href: "https://billing.example.org/2",
  },
  {
    id: "1",
    number: "2026-001",
    issued_at: "2026-09-01T12:00:00.000Z",
    amount: "-12.10",
    currency: "EUR",
    state: "void",
  },
];

describe("billing", () => {
  it("shows the plan, the used storage, and that there are no invoices", async () => {
    await renderPage("/settings/billing", { features });
    expect(await screen.findByRole("meter", { name: "Storage" })).toBeVisible();
    expect(screen.getByText("Free")).toBeVisible();
    expect(screen.getByRole("heading", { name: "No invoices" })).toBeVisible();
  });

  it.each([
    ["en", "€1,234.50", "Due", "-€12.10"],
    ["es", "1234,50 €", "Pendiente de pago", "-12,10 €"],
  ] as const)(
    "lists invoices in %s with amount and state, linked to the operator's page",
    async (language, total, state, credit) => {
      const http = createService();
      http.answer("GET /user/billing", () => ({ plan: "family", use, invoices }));
      await renderPage("/settings/billing", { features, http, language });
      const rows = await screen.findAllByText(/^2026-00/);
      expect(rows.map(({ textContent }) => textContent)).toEqual(["2026-002", "2026-001"]);
      expect(screen.getByText(total)).toBeVisible();
      expect(screen.getByText(credit)).toBeVisible();
      expect(screen.getByText(state)).toBeVisible();
      expect(screen.getByText("family")).toBeVisible();
      const link = screen.getByRole("link", { name: /2026-002/ });
      expect([link.getAttribute("href"), link.getAttribute("rel"), link.getAttribute("target")]).toEqual([
        "https://billing.example.org/2",
        "noreferrer",
        "_blank",
      ]);
      expect(screen.queryByRole("link", { name: /2026-001/ })).not.toBeInTheDocument();
      await expectAccessible();
    },
  );

  it("shows a failure, and retries", async () => {
    const http = createService();
    const respond = () => ({ plan: "free", use, invoices: [] });
    http.answer("GET /user/billing", () => {
      throw new PortalError("service_unavailable");
    });
    await renderPage("/settings/billing", { features, http });
    expect(await screen.findByRole("alert")).toBeVisible();
    http.answer("GET /user/billing", respond);
    await userEvent.click(screen.getByRole("button", { name: "Try again" }));
    expect(await screen.findByRole("heading", { name: "No invoices" })).toBeVisible();
  });

  it("is not requested from the service if the page is hidden", async () => {
    const http = createService();
    const { getLocation } = await renderPage("/settings/billing", { features: { payments: true }, http });
    expect(getLocation()).toBe("/settings/profile");
    expect(http.calls.filter(({ path }) => path === "/user/billing")).toEqual([]);
  });
});

describe("payments", () => {
  const vendor = { vendorId: "relicario", branding: { productName: "Relicario" }, messages: [] };

  it("links to the vendor's payment provider, asks for no card and makes no call", async () => {
    const http = createService();
    await renderPage("/settings/payments", {
      features,
      http,
      vendor: { ...vendor, paymentsUrl: "https://pay.example.org/customer" },
    });
    const link = screen.getByRole("link", { name: "Go to payment provider" });
    expect([link.getAttribute("href"), link.getAttribute("rel")]).toEqual([
      "https://pay.example.org/customer",
      "noreferrer",
    ]);
    expect(screen.getByText(/You pay at pay.example.org/)).toBeVisible();
    expect(screen.queryByRole("textbox")).not.toBeInTheDocument();
    expect(http.calls).toEqual([]);
    await expectAccessible();
  });

  it("says that nothing has to be paid if the vendor names no provider", async () => {
    await renderPage("/settings/payments", { features, vendor });
    expect(screen.getByRole("heading", { name: "Nothing to pay" })).toBeVisible();
  });
});
