import { PasswordRejection, type PasswordRule } from "@relicario/shared/api";
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
import { getInvalidFields } from "../data/invalid-fields.ts";
import { usePasswordTexts } from "./usePasswordTexts.ts";

interface PasswordCardProps {
  /** Sign-in name under which a password manager stores the password. */
  readonly username: string;
}

/** Changes the password at the identity provider, and shows its rules. */
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

const emptyPasswords = { current: "", next: "" };

function PasswordForm({ username, rules }: PasswordCardProps & { readonly rules: readonly PasswordRule[] }) {
  const { t } = useTranslation("settings");
  const { notify } = usePortal();
  const texts = usePasswordTexts();
  const [passwords, setPasswords] = useState(emptyPasswords);
  const [missingFields, setMissingFields] = useState({ current: false, next: false });
  const [rejections, setRejections] = useState<readonly PasswordRejection[]>([]);
  const currentRef = useRef<HTMLInputElement>(null);
  const nextRef = useRef<HTMLInputElement>(null);
  const changeMutation = useChangePassword((error) => {
    const passwordRejections = getInvalidFields(error).flatMap(
      (rejection) => PasswordRejection.safeParse(rejection).data ?? [],
    );
    setRejections(passwordRejections);
    if (passwordRejections.length > 0)
      (passwordRejections.some(({ path }) => path === "/old_password") ? currentRef : nextRef).current?.focus();
  });

  const handleSubmit = (event: SubmitEvent) => {
    event.preventDefault();
    if (changeMutation.isPending) return;
    const emptyFields = { current: passwords.current === "", next: passwords.next === "" };
    setMissingFields(emptyFields);
    setRejections([]);
    if (emptyFields.current || emptyFields.next) {
      (emptyFields.current ? currentRef : nextRef).current?.focus();
      return;
    }
    changeMutation.mutate(
      { old_password: passwords.current, new_password: passwords.next },
      {
        onSuccess: () => {
          setPasswords(emptyPasswords);
          notify({ tone: "success", text: t("password.changed_status") });
        },
      },
    );
  };
  const getFieldError = (path: PasswordRejection["path"]) => {
    const sentences = rejections.filter((rejection) => rejection.path === path).map(texts.describeRejection);
    return sentences.length === 0 ? null : sentences.join(" ");
  };
  return (
    <form onSubmit={handleSubmit} noValidate>
      <Stack $gap={5}>
        <Muted>{t("password.lead")}</Muted>
        <VisuallyHidden>
          <input type="text" autoComplete="username" value={username} readOnly tabIndex={-1} aria-hidden />
        </VisuallyHidden>
        <PasswordField
          ref={currentRef}
          label={t("password.old_label")}
          error={missingFields.current ? t("password.missing_error") : getFieldError("/old_password")}
          autoComplete="current-password"
          value={passwords.current}
          onChange={({ target }) => {
            setPasswords({ ...passwords, current: target.value });
          }}
        />
        <PasswordField
          ref={nextRef}
          label={t("password.new_label")}
          hint={rules.length === 0 ? undefined : <Rules rules={rules} />}
          error={missingFields.next ? t("password.missing_error") : getFieldError("/new_password")}
          autoComplete="new-password"
          value={passwords.next}
          onChange={({ target }) => {
            setPasswords({ ...passwords, next: target.value });
          }}
        />
        <ErrorNotice error={rejections.length > 0 ? null : changeMutation.error} />
        <SpacedRow>
          <Button type="submit" pending={changeMutation.isPending}>
            {t("password.change_action")}
          </Button>
        </SpacedRow>
      </Stack>
    </form>
  );
}

/** Shows the identity provider's rules as one paragraph, so that it can be the field's hint. */
function Rules({ rules }: { readonly rules: readonly PasswordRule[] }) {
  const { t } = useTranslation("settings");
  const texts = usePasswordTexts();
  return (
    <>
      {t("password.rules_label")}{" "}
      {rules.map((rule, index) => (
        <RuleText key={index}>{texts.describeRule(rule)} </RuleText>
      ))}
    </>
  );
}

const RuleText = styled.span`
  overflow-wrap: anywhere;
`;
