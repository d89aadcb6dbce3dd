import { usePortal, type AdmittedDevice, type AskingDevice, type Vault } from "@relicario/shared/contract";
import { Button, ButtonLink, Card, Muted, Notice, s, SectionTitle, SpacedRow, Stack } from "@relicario/shared/ui";
import { useEffect, useState } from "react";
import { useTranslation } from "react-i18next";
import { styled } from "styled-components";

import { takeFocus } from "../flow/take-focus.ts";
import { ShowToAct } from "../openers/ShowToAct.tsx";
import { DeviceCodeStep } from "./DeviceCodeStep.tsx";

type Step =
  | { readonly status: "warning"; readonly again: boolean }
  | { readonly status: "code" }
  | { readonly status: "showing"; readonly code: string; readonly asking: AskingDevice }
  | { readonly status: "done"; readonly name: string; readonly admitted: AdmittedDevice };

/**
 * The device at hand: the warning, the code of the other device, something that opens the account,
 * and what came of it.
 */
export function AdmitDevice({ vault }: { readonly vault: Vault }) {
  const { t } = useTranslation("devices");
  const { onLock } = usePortal();
  const [step, setStep] = useState<Step>({ status: "warning", again: false });
  const begin = () => {
    setStep({ status: "warning", again: true });
  };
  useEffect(
    () =>
      onLock(() => {
        setStep({ status: "warning", again: false });
      }),
    [onLock],
  );
  switch (step.status) {
    case "warning":
      return (
        <Card aria-labelledby="at-hand-warning">
          <Stack $gap={4}>
            <Warning ref={step.again ? takeFocus : null} tabIndex={-1} id="at-hand-warning">
              {t("at_hand.warning_title")}
            </Warning>
            <p>{t("at_hand.warning_body")}</p>
            <Muted>{t("at_hand.where_body")}</Muted>
            <SpacedRow>
              <Button
                onClick={() => {
                  setStep({ status: "code" });
                }}
              >
                {t("at_hand.mine_action")}
              </Button>
              <ButtonLink tone="quiet" to="/openers">
                {t("at_hand.leave_action")}
              </ButtonLink>
            </SpacedRow>
          </Stack>
        </Card>
      );
    case "code":
      return (
        <DeviceCodeStep
          vault={vault}
          onFound={(code, asking) => {
            setStep({ status: "showing", code, asking });
          }}
          onCancel={begin}
        />
      );
    case "showing": {
      const { code, asking } = step;
      return (
        <Card aria-labelledby="at-hand-show">
          <Stack $gap={4}>
            <SectionTitle ref={takeFocus} tabIndex={-1} id="at-hand-show">
              {t("show.title", { name: asking.name })}
            </SectionTitle>
            <Notice tone="warn">{t("show.opens_body", { count: asking.secrets })}</Notice>
            <Muted>{t("show.body")}</Muted>
            <ShowToAct
              vault={vault}
              label={t("show.show_action")}
              act={(shown, options) => vault.deviceLinks.admit(code, shown, options)}
              onDone={(admitted) => {
                setStep({ status: "done", name: asking.name, admitted });
              }}
              onCancel={begin}
            />
          </Stack>
        </Card>
      );
    }
    case "done":
      return <Done name={step.name} admitted={step.admitted} onAgain={begin} />;
    default:
      return step satisfies never;
  }
}

function Done({
  name,
  admitted: { covered, left, answered },
  onAgain,
}: {
  readonly name: string;
  readonly admitted: AdmittedDevice;
  readonly onAgain: () => void;
}) {
  const { t } = useTranslation("devices");
  return (
    <Card aria-labelledby="at-hand-done">
      <Stack $gap={4}>
        <SectionTitle ref={takeFocus} tabIndex={-1} id="at-hand-done">
          {t("done.title")}
        </SectionTitle>
        <Notice tone="success" role="status">
          {t("done.body", { name, count: covered })}
        </Notice>
        {left.length > 0 && <Notice tone="warn">{t("done.left_body", { count: left.length })}</Notice>}
        {!answered && <Notice tone="warn">{t("done.late_body")}</Notice>}
        <SpacedRow>
          <ButtonLink to="/openers">{t("done.openers_action")}</ButtonLink>
          <Button tone="quiet" onClick={onAgain}>
            {t("done.again_action")}
          </Button>
        </SpacedRow>
      </Stack>
    </Card>
  );
}

/** The largest type of the product. */
const Warning = styled.h2`
  color: ${s("dangerText")};
  font-size: ${s("textDisplay")};
  line-height: 1.25;
`;
