import type { AccountResetStatus, Vault } from "@relicario/shared/contract";
import { Checkbox } from "@relicario/shared/forms";
import { Button, Card, ErrorNotice, SectionTitle, space, SpacedRow, Stack } from "@relicario/shared/ui";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { Link } from "react-router-dom";
import { styled } from "styled-components";

import { useOperation } from "./useOperation.ts";

/** What may still open the account, the likeliest first, and where each is shown. */
const ways = [
  { way: "copy", to: "/welcome-recovery?have=copy" },
  { way: "passkey", to: "/provide-image-recovery?then=%2Fsecrets" },
  { way: "code", to: "/provide-image-recovery?then=%2Fsecrets" },
  { way: "device", to: "/new-device" },
  { way: "kit", to: "/welcome-recovery?have=kit" },
] as const;

const consequences = ["gone", "kept", "wait", "shared", "people"] as const;

/**
 * First what may still open the account, then what starting anew means; only who agrees to that may
 * ask for it.
 */
export function RequestResetPanel({
  vault,
  onChanged,
}: {
  readonly vault: Vault;
  readonly onChanged: (status: AccountResetStatus) => void;
}) {
  const { t } = useTranslation("start-anew");
  const [accepted, setAccepted] = useState(false);
  const { busy, error, run } = useOperation(onChanged);
  return (
    <>
      <Card aria-labelledby="start-anew-ways">
        <Stack $gap={3}>
          <SectionTitle id="start-anew-ways">{t("ways.title")}</SectionTitle>
          <Points>
            {ways.map(({ way, to }) => (
              <li key={way}>
                {t(`ways.${way}_body`)} <Link to={to}>{t(`ways.${way}_action`)}</Link>
              </li>
            ))}
          </Points>
        </Stack>
      </Card>
      <Card aria-labelledby="start-anew-meaning">
        <Stack $gap={3}>
          <SectionTitle id="start-anew-meaning">{t("meaning.title")}</SectionTitle>
          <Points>
            {consequences.map((consequence) => (
              <li key={consequence}>{t(`meaning.${consequence}_body`)}</li>
            ))}
          </Points>
          <Checkbox
            label={t("ask.agree_label")}
            checked={accepted}
            disabled={busy}
            onChange={(event) => {
              setAccepted(event.target.checked);
            }}
          />
          <ErrorNotice error={error} />
          <SpacedRow>
            <Button
              tone="danger"
              pending={busy}
              disabled={!accepted}
              onClick={() => void run(() => vault.accountReset.request())}
            >
              {t("ask.ask_action")}
            </Button>
          </SpacedRow>
        </Stack>
      </Card>
    </>
  );
}

const Points = styled.ul`
  display: flex;
  flex-direction: column;
  gap: ${space(2)};
  padding-left: ${space(5)};
  list-style: disc;
`;
