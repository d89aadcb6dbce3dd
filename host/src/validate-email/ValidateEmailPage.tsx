import { ValidateContactEmailResponse, ValidateContactEmailQuery } from "@relicario/shared/api";
import { HttpError, isPortalError } from "@relicario/shared/errors";
import {
  Button,
  ButtonLink,
  Card,
  ErrorNotice,
  markVerbatim,
  Notice,
  Page,
  renderVerbatim,
  Stack,
} from "@relicario/shared/ui";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { useTranslation } from "react-i18next";
import { useLocation, useNavigate } from "react-router-dom";
import type { z } from "zod";

import { useHost } from "../context/host-context.ts";
import { removeBreaks } from "../session/link-address.ts";

/**
 * Parameters of the link in an e-mail: the address to confirm, and a single-use nonce of 128 bits.
 */
type EmailLink = z.infer<typeof ValidateContactEmailQuery>;

/**
 * Page of the link in an e-mail, `/validate-email#value=…&nonce=…`. Makes no call before the person
 * presses the button, so that programs which open links in advance do not use the link up. Removes
 * the parameters from the address bar and the history at once.
 */
export default function ValidateEmailPage() {
  const { t } = useTranslation("header");
  const { hash, pathname } = useLocation();
  const navigate = useNavigate();
  const [linkHash, setLinkHash] = useState(hash);
  if (hash !== "" && hash !== linkHash) setLinkHash(hash); // another link was opened in the same tab
  useEffect(() => {
    if (hash !== "") void navigate(pathname, { replace: true });
  }, [hash, pathname, navigate]);
  const link = parseEmailLink(linkHash);

  return (
    <Page title={t("validate_email.title")}>
      {link === null ? (
        <Notice tone="warn" title={t("validate_email.no_link_title")} actions={<ProfileLink />}>
          {t("validate_email.no_link_body")}
        </Notice>
      ) : (
        <ConfirmEmail key={link.nonce} link={link} />
      )}
    </Page>
  );
}

/**
 * Parses `#value=…&nonce=…`, even if a mail program has added characters inside or after it. Null
 * when a parameter is missing or malformed.
 */
export function parseEmailLink(hash: string): EmailLink | null {
  const text = /=3D[^&]*&nonce=3D[\w-]{22}/.test(hash) ? hash.replaceAll("=3D", "=") : hash; // quoted-printable
  const params = new URLSearchParams(text.replace(/^#/, ""));
  const [value, nonce] = ["value", "nonce"].map((name) => removeBreaks(params.get(name) ?? ""));
  return ValidateContactEmailQuery.safeParse({ value, nonce: /^[\w-]{22}/.exec(nonce ?? "")?.[0] }).data ?? null;
}

function ConfirmEmail({ link }: { readonly link: EmailLink }) {
  const { t } = useTranslation("header");
  const { http } = useHost();
  const queryClient = useQueryClient();
  const confirm = useMutation({
    mutationFn: () =>
      http.request("GET", "/user/validate-contact-email", ValidateContactEmailResponse, {
        query: { value: link.value, nonce: link.nonce },
      }),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: ["user"] }),
  });

  if (confirm.isSuccess) {
    return (
      <Notice tone="success" role="status" title={t("validate_email.done_title")} actions={<ProfileLink />}>
        {renderVerbatim(t("validate_email.done_body", { address: markVerbatim(link.value) }))}
      </Notice>
    );
  }
  if (isUsedLink(confirm.error)) {
    return (
      <Notice tone="warn" role="alert" title={t("validate_email.spent_title")} actions={<ProfileLink />}>
        {t("validate_email.spent_body")}
      </Notice>
    );
  }
  return (
    <Card>
      <Stack>
        <p>{renderVerbatim(t("validate_email.confirm_body", { address: markVerbatim(link.value) }))}</p>
        <ErrorNotice error={confirm.error} />
        <div>
          <Button pending={confirm.isPending} onClick={() => confirm.mutate()}>
            {t("validate_email.confirm_action")}
          </Button>
        </div>
      </Stack>
    </Card>
  );
}

function ProfileLink() {
  const { t } = useTranslation("header");
  return (
    <ButtonLink to="/settings/profile" size="small" tone="quiet">
      {t("validate_email.profile_action")}
    </ButtonLink>
  );
}

/**
 * Whether the service rejects the link. It was used, replaced, is older than a day, or was never
 * issued: the service does not say which.
 */
function isUsedLink(error: unknown): boolean {
  if (isPortalError(error, "not_found", "validation_error")) return true;
  return isPortalError(error) && error.cause instanceof HttpError && error.cause.status === 410;
}
