// A command in C, as one is written for any system: it counts the bytes and words of its
// standard input. With a word "fail" in it, it says so and exits with status 4.
#include <ctype.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv) {
	long bytes = 0, words = 0, length = 0;
	char word[5] = "";
	int failed = 0, c;
	while ((c = getchar()) != EOF) {
		bytes++;
		if (!isalpha(c)) {
			failed |= length == 4 && !strcmp(word, "fail");
			words += length > 0;
			length = 0;
		} else if (length++ < 4) {
			word[length - 1] = c;
		}
	}
	if (failed) {
		fprintf(stderr, "%s: failing as I was told\n", argv[0]);
		return 4;
	}
	printf("{\"program\":\"%s\",\"arguments\":%d,", argv[0], argc - 1);
	printf("\"bytes\":%ld,\"words\":%ld}", bytes, words);
	return fclose(stdout) != 0;
}
