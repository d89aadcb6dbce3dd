import { PasswordRefusal, type PasswordRule } from "@relicario/shared/api";
import { usePortal } from "@relicario/shared/contract";
import { PasswordField } from "@relicario/shared/forms";
import {
  Button,
  Card,
  ErrorNotice,
  Loading,
  Muted,
  SectionTitle,
  Skeleton,
  SpacedRow,
  Stack,
  VisuallyHidden,
} from "@relicario/shared/ui";
import { useQuery } from "@tanstack/react-query";
import { useRef, useState, type SubmitEvent } from "react";
import { useTranslation } from "react-i18next";
import { styled } from "styled-components";

import { passwordRulesQuery, useChangePassword } from "../data/password.ts";
import { refusalsOf } from "../data/refusals.ts";
import { usePasswordWords } from "./usePasswordWords.ts";

interface PasswordCardProps {
  /** What the person signs in as: a password manager keeps the password under it. */
  readonly username: string;
}

/** Changes the password at the identity provider, by its rules. */
export function PasswordCard({ username }: PasswordCardProps) {
  const { t } = useTranslation("settings");
  const portal = usePortal();
  const rules = useQuery(passwordRulesQuery(portal));
  return (
    <Card>
      <Stack $gap={5}>
        <SectionTitle>{t("password.title")}</SectionTitle>
        {rules.isError ? (
          <ErrorNotice error={rules.error} onRetry={() => void rules.refetch()} />
        ) : rules.data === undefined ? (
          <Loading label={t("password.loading_status")}>
            <Skeleton height="280px" />
          </Loading>
        ) : rules.data.changeable ? (
          <PasswordForm username={username} rules={rules.data.rules} />
        ) : (
          <Muted>{t("password.elsewhere_body")}</Muted>
        )}
      </Stack>
    </Card>
  );
}

const nothingTyped = { before: "", after: "" };

function PasswordForm({ username, rules }: PasswordCardProps & { readonly rules: readonly PasswordRule[] }) {
  const { t } = useTranslation("settings");
  const { notify } = usePortal();
  const words = usePasswordWords();
  const [typed, setTyped] = useState(nothingTyped);
  const [missing, setMissing] = useState({ before: false, after: false });
  const [refusals, setRefusals] = useState<readonly PasswordRefusal[]>([]);
  const before = useRef<HTMLInputElement>(null);
  const after = useRef<HTMLInputElement>(null);
  const change = useChangePassword((error) => {
    const refused = refusalsOf(error).flatMap((refusal) => PasswordRefusal.safeParse(refusal).data ?? []);
    setRefusals(refused);
    if (refused.length > 0) (refused.some(({ path }) => path === "/old_password") ? before : after).current?.focus();
  });

  const handleSubmit = (event: SubmitEvent) => {
    event.preventDefault();
    if (change.isPending) return;
    const none = { before: typed.before === "", after: typed.after === "" };
    setMissing(none);
    setRefusals([]);
    if (none.before || none.after) {
      (none.before ? before : after).current?.focus();
      return;
    }
    change.mutate(
      { old_password: typed.before, new_password: typed.after },
      {
        onSuccess: () => {
          setTyped(nothingTyped);
          notify({ tone: "success", text: t("password.changed_status") });
        },
      },
    );
  };
  const errorAt = (path: PasswordRefusal["path"]) => {
    const said = refusals.filter((refusal) => refusal.path === path).map(words.refusal);
    return said.length === 0 ? null : said.join(" ");
  };
  return (
    <form onSubmit={handleSubmit} noValidate>
      <Stack $gap={5}>
        <Muted>{t("password.lead")}</Muted>
        <VisuallyHidden>
          <input type="text" autoComplete="username" value={username} readOnly tabIndex={-1} aria-hidden />
        </VisuallyHidden>
        <PasswordField
          ref={before}
          label={t("password.old_label")}
          error={missing.before ? t("password.missing_error") : errorAt("/old_password")}
          autoComplete="current-password"
          value={typed.before}
          onChange={({ target }) => {
            setTyped({ ...typed, before: target.value });
          }}
        />
        <PasswordField
          ref={after}
          label={t("password.new_label")}
          hint={rules.length === 0 ? undefined : <Rules rules={rules} />}
          error={missing.after ? t("password.missing_error") : errorAt("/new_password")}
          autoComplete="new-password"
          value={typed.after}
          onChange={({ target }) => {
            setTyped({ ...typed, after: target.value });
          }}
        />
        <ErrorNotice error={refusals.length > 0 ? null : change.error} />
        <SpacedRow>
          <Button type="submit" pending={change.isPending}>
            {t("password.change_action")}
          </Button>
        </SpacedRow>
      </Stack>
    </form>
  );
}

/** What the identity provider asks of a password, in one paragraph that belongs to the field. */
function Rules({ rules }: { readonly rules: readonly PasswordRule[] }) {
  const { t } = useTranslation("settings");
  const words = usePasswordWords();
  return (
    <>
      {t("password.rules_label")}{" "}
      {rules.map((rule, at) => (
        <RuleText key={at}>{words.rule(rule)} </RuleText>
      ))}
    </>
  );
}

const RuleText = styled.span`
  overflow-wrap: anywhere;
`;
