/** The settings of this vendor: the address for notices, and what happened last. */
import { Me } from "@relicario/shared/api";
import { usePortal } from "@relicario/shared/contract";
import { TextField } from "@relicario/shared/forms";
import { Button, Card, ErrorNotice, Loading, Page, Skeleton, Stack } from "@relicario/shared/ui";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState, type FormEvent } from "react";
import { Trans, useTranslation } from "react-i18next";
import { ThemeProvider } from "styled-components";
import { z } from "zod";

import { RecentEvents } from "./RecentEvents.tsx";

/** As people type it: with spaces around it, in any case, or in a decomposed form. */
const Address = z.string().trim().normalize("NFC").toLowerCase().pipe(z.email().max(254));

const theme = { line: "#9a6a3f" };

/** Routes `/settings/profile` and all below `/settings`. */
export default function AccountPage() {
  const { t } = useTranslation("settings");
  const { http } = usePortal();
  const me = useQuery({
    queryKey: ["arcon", "me"],
    queryFn: ({ signal }) => http.request("GET", "/user/me", Me, { signal }),
  });

  return (
    <ThemeProvider theme={theme}>
      <Page title={t("page.title")} lead={t("page.lead_body")}>
        {me.isError && <ErrorNotice error={me.error} onRetry={() => void me.refetch()} />}
        {me.isPending && (
          <Loading label={t("page.loading_status")}>
            <Skeleton height="160px" />
          </Loading>
        )}
        {me.data !== undefined && (
          <Stack $gap={5}>
            <Card>
              <Stack $gap={4}>
                <p>
                  <Trans
                    t={t}
                    i18nKey="account.who_body"
                    values={{ name: me.data.user_name }}
                    components={{ strong: <strong dir="auto" /> }}
                  />
                </p>
                <AddressForm stored={me.data.contact_email ?? ""} />
              </Stack>
            </Card>
            <RecentEvents />
          </Stack>
        )}
      </Page>
    </ThemeProvider>
  );
}

function AddressForm({ stored }: { readonly stored: string }) {
  const { t } = useTranslation("settings");
  const { http, notify } = usePortal();
  const client = useQueryClient();
  const [draft, setDraft] = useState(stored);
  const [invalid, setInvalid] = useState(false);
  const save = useMutation({
    mutationFn: (address: string) => http.request("POST", "/user/me", Me, { body: { contact_email: address } }),
    onSuccess: async (me, address) => {
      setDraft(address);
      notify({ tone: "success", text: t("account.saved_status") });
      client.setQueryData(["arcon", "me"], me);
      await client.invalidateQueries({ queryKey: ["arcon", "events"] });
    },
  });

  const submit = (event: FormEvent) => {
    event.preventDefault();
    const { success, data } = Address.safeParse(draft);
    setInvalid(!success);
    if (success) save.mutate(data);
  };

  return (
    <form noValidate onSubmit={submit}>
      <Stack $gap={4}>
        <TextField
          label={t("account.address_label")}
          value={draft}
          autoComplete="email"
          inputMode="email"
          onChange={({ target }) => {
            setDraft(target.value);
            setInvalid(false);
          }}
          error={invalid ? t("account.address_error") : undefined}
        />
        {save.isError && <ErrorNotice error={save.error} />}
        <div>
          <Button type="submit" pending={save.isPending}>
            {t("account.save_action")}
          </Button>
        </div>
      </Stack>
    </form>
  );
}
