import type { AccountResetStatus, Vault } from "@relicario/shared/contract";
import { Checkbox, useVaultOperation } from "@relicario/shared/forms";
import { Button, Card, ErrorNotice, Muted, SectionTitle, space, SpacedRow, Stack } from "@relicario/shared/ui";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { Link } from "react-router-dom";
import { styled } from "styled-components";

/** What may still open the account, likeliest first, and where to present it. */
const ways = [
  { way: "copy", to: "/welcome-recovery?have=copy" },
  { way: "passkey", to: "/provide-image-recovery?then=%2Fsecrets" },
  { way: "code", to: "/provide-image-recovery?then=%2Fsecrets" },
  { way: "device", to: "/new-device" },
  { way: "kit", to: "/welcome-recovery?have=kit" },
] as const;

const consequences = ["gone", "kept", "wait", "shared", "people"] as const;

/**
 * Lists what may still open the account, then what a reset means. The person must accept the loss
 * before requesting it.
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
  const { running, error, start } = useVaultOperation();
  return (
    <>
      <Muted>{t("ways.lead_body")}</Muted>
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
            disabled={running}
            onChange={(event) => {
              setAccepted(event.target.checked);
            }}
          />
          <ErrorNotice error={error} />
          <SpacedRow>
            <Button
              tone="danger"
              pending={running}
              disabled={!accepted}
              onClick={() => {
                start({ run: () => vault.accountReset.request(), onDone: onChanged });
              }}
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
