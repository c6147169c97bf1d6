package command

import (
	"strings"

	"github.com/aircoding/air/runtime/permission"
)

const (
	system  = "it changes the system"
	users   = "it changes users of the system"
	screens = "it works in a terminal outside of the sandbox"
)

// careful is for what only shows something, but has options that do more.
var careful = row{guarded: true, options: "a,all q,quiet l,full L no-pager n,lines= plain no-legend p,property= value t,type= state= installed " +
	"upgradable manual-installed json=? versions cask formula v,verbose k f r names-only"}

// systemPrograms look at the machine, or change it.
var systemPrograms = table{
	"ps":     program(processes),
	"getent": program(entries),
	"pgrep pidof pstree lsof netstat vmstat iostat mpstat lscpu lsb_release free who w last locale lsblk lspci lsusb lsmod blkid ipcs " +
		"sensors apropos whatis tldr acpi dpkg-query atq": shows,
	"top":   row{options: "n= d= p= u= U= o= b i c H S 1 E e=", guarded: true},
	"htop":  editor,
	"fuser": row{risk: permission.RiskPrivileged, why: "it may end processes", operands: reads},
	"ss": row{guarded: true, options: "t u l n p a x 4 6 s e m i o r H O w K! D=> F=< N=! tcp udp listening numeric processes " +
		"all summary no-header"},
	"kill":                program(kill),
	"pkill killall skill": privilege("it ends processes by their name"),
	"xkill":               privilege("it ends processes"),
	"renice":              privilege("it changes other processes"),
	"uname whoami id groups logname tty arch nproc uptime getconf sw_vers hostid printenv getenforce": onlyPrints,
	"apt-cache": careful,
	"man info": row{operands: elsewhere, guarded: true, options: "a,all f,whatis k,apropos w,where K,global-apropos s,S,sections= " +
		"M,manpath=<< L,locale= P,pager=! H! i I n,node= d,directory=<< file=< o,output=>"},
	"nvidia-smi": row{guarded: true, options: "q,query L,list-gpus l,loop= i,id= d,display= query-gpu= query-compute-apps= format= " +
		"f,filename=> x,xml-format"},
	"inotifywait": row{operands: reads, guarded: true, options: "m,monitor r,recursive e,event= q,quiet t,timeout= o,outfile=> format= " +
		"timefmt= exclude= excludei= include= includei= fromfile=! d,daemon! s,syslog c,csv"},
	"cksfv getcap getfacl lsattr": readsFiles,
	"numactl":                     row{risk: permission.RiskOpaque, why: "it runs another command"},
	"hostname domainname":         oneIsASet("it names the machine"),
	"hostnamectl localectl loginctl ifconfig route arp": oneIsASet(system),
	"timedatectl": oneIsASet("it sets the clock of the machine"),
	"ip":          program(ip),
	"iw pacman port choco winget initctl update-rc.d umount swapon swapoff fsck systemd-run iptables ip6tables nft ufw firewall-cmd modprobe " +
		"insmod rmmod setcap setenforce update-alternatives ldconfig csrutil spctl unshare nsenter capsh bpftool debugfs": privilege(system),
	"apt":      packages("list show search policy depends rdepends madison changelog", "update"),
	"apt-get":  packages("check changelog", "update download source"),
	"apt-file": packages("search list find", "update"),
	"dpkg": row{risk: permission.RiskPrivileged, why: system}.asks("-l --list -L --listfiles -s --status -S --search -p -W --print-architecture " +
		"--version -I --info -c --contents"),
	"rpm":           row{risk: permission.RiskPrivileged, why: system}.asks("-q -qa -qi -ql -qf --version"),
	"yum dnf":       packages("list info search repolist provides", ""),
	"brew":          packages("list info search config doctor deps outdated leaves", "update fetch"),
	"snap":          packages("list info find version", ""),
	"apk":           packages("info list search version policy", "update"),
	"zypper":        packages("search info", ""),
	"flatpak":       packages("list info search", ""),
	"nix nix-shell": row{risk: permission.RiskOpaque, why: "it runs what its expression says"},
	"systemctl": packages("status list-units list-unit-files is-active is-enabled is-failed show cat list-timers list-dependencies list-sockets "+
		"get-default", ""),
	"service": program(service),
	"journalctl": row{guarded: true, options: "u,unit= n,lines=? S,since= U,until= f,follow e,pager-end x,catalog b,boot=? k,dmesg p,priority= " +
		"r,reverse o,output= no-pager g,grep= a,all q,quiet user system list-boots disk-usage t,identifier= utc no-hostname"},
	"dmesg": row{guarded: true, options: "T,ctime H,human w,follow l,level= f,facility= k,kernel u,userspace x,decode t,notime L,color=? since= " +
		"until= e,reltime r,raw J,json"},
	"launchctl":     packages("list print", ""),
	"mount losetup": noWords(system),
	"mkfs mkswap wipefs mkfs.ext4 mkfs.xfs mkfs.vfat":    privilege("it overwrites a device"),
	"fdisk parted hdparm cryptsetup sgdisk lvm diskutil": privilege("it changes a device"),
	"crontab":  row{risk: permission.RiskPrivileged, why: "it makes commands run later"}.asks("-l"),
	"at batch": privilege("it makes commands run later"),
	"useradd userdel usermod adduser deluser groupadd groupdel groupmod passwd chpasswd chsh chfn visudo vipw gpasswd newgrp dscl": privilege(users),
	"reboot shutdown halt poweroff init telinit": privilege("it stops the machine"),
	"sysctl":                   program(sysctl),
	"setfacl chattr":           privilege("it changes who may do what with files"),
	"dconf gsettings defaults": privilege("it changes settings of the person"),
	"hwclock ntpdate":          privilege("it sets the clock of the machine"),
	"tcpdump tshark":           privilege("it listens to the network"),
	"tmux":                     row{risk: permission.RiskPrivileged, why: screens}.asks("-V"),
	"screen":                   row{risk: permission.RiskPrivileged, why: screens}.asks("-ls -list -v --version"),
	"expect":                   row{risk: permission.RiskOpaque, why: inline},
	"dbus-send gdbus busctl notify-send xdotool wmctrl": privilege(screens),
	"open xdg-open code":  privilege("it opens a program of the person"),
	"xclip xsel":          privilege("it reads or changes what the person copied"),
	"pbcopy wl-copy":      privilege("it changes what the person copied"),
	"pbpaste wl-paste":    privilege("it shows what the person copied"),
	"air":                 program(air),
	"claude codex gemini": privilege("it starts another agent"),
	"entr watchexec":      row{risk: permission.RiskOpaque, why: "it runs other commands"},
	"logger":              privilege("it writes the log of the system"),
	"wall write":          privilege("it writes to other users"),
}

// asks is a program that only shows something where its first word is one of these and
// no other option follows, and otherwise does more.
func (r row) asks(options string) program {
	return func(c *simple, f *finding) {
		args := c.args()
		shown := len(args) > 0 && oneOf(args[0].text, options) && !args[0].unknown
		for _, w := range args[min(1, len(args)):] {
			shown = shown && !w.mayBeOption()
		}
		if !shown {
			r.find(c, f)
		}
	}
}

// packages is a manager of the packages or services of the system.
func packages(shown, fetched string) subcommands {
	return subcommands{options: "q,quiet y n V version no-pager user a,all type= state= l,full plain no-legend installed n,lines=", of: table{
		shown:   careful,
		fetched: row{risk: permission.RiskPrivileged, why: "it fetches the lists of packages of the system"},
		"install remove purge upgrade dist-upgrade full-upgrade autoremove autoclean clean reinstall add del delete erase refresh tap untap " +
			"uninstall link unlink services cleanup edit-sources start stop restart reload enable disable mask unmask daemon-reload kill " +
			"set-default isolate reboot poweroff edit revert load unload bootstrap bootout build-dep makecache groupinstall": privilege(system),
	}}
}

// processes is ps. Without a dash its letters show the environment of other programs.
func processes(c *simple, f *finding) {
	value := false // of an option, such as the columns after -o
	for _, w := range c.args() {
		dashed := strings.HasPrefix(w.text, "-")
		if !value && (!dashed && strings.Contains(w.text, "e") || dashed && strings.Contains(w.text, "E")) {
			f.raise(permission.RiskPrivileged, "it shows the environment of other programs")
		}
		last := w.text[max(0, len(w.text)-1):]
		value = last == "o" || dashed && oneOf(last, "O p u U g G C t q s N") && !beginsWith(w.text, "--")
	}
}

// entries is getent, which asks the databases of the system.
func entries(c *simple, f *finding) {
	switch args := c.args(); {
	case len(args) > 0 && oneOf(args[0].text, "passwd group services protocols networks rpc ethers"):
	case len(args) > 0 && oneOf(args[0].text, "hosts ahosts ahostsv4 ahostsv6"):
		f.raise(permission.RiskNetwork, asksHosts)
	default:
		f.raise(permission.RiskPrivileged, "it may show the passwords of users")
	}
}

// oneIsASet shows something without operands, and sets it with one.
func oneIsASet(why string) program {
	return func(c *simple, f *finding) {
		for i, w := range c.args() {
			shows := i == 0 && oneOf(w.text, "status show list list-sessions")
			if !shows && (!strings.HasPrefix(w.text, "-") || w.unknown || strings.Contains(w.text, "F") || strings.Contains(w.text, "file")) {
				f.raise(permission.RiskPrivileged, why)
			}
		}
	}
}

// noWords shows something without any words, and does more with one.
func noWords(why string) program {
	return func(c *simple, f *finding) {
		if len(c.words) > 1 && !helps(c) {
			f.raise(permission.RiskPrivileged, why)
		}
	}
}

// ip shows something where its second operand, if any, is a verb that does.
func ip(c *simple, f *finding) {
	a := f.parse(c, "br,brief 4 6 s,stats,statistics o,oneline j,json c,color=? d,details V,Version p,pretty f,family= h,human-readable "+
		"r,resolve", single|stop)
	words := a.operands
	for _, w := range words {
		if w.unknown || w.pattern {
			f.raise(permission.RiskPrivileged, system)
		}
	}
	known := len(words) == 0 || oneOf(words[0].text, "a addr address link l route r neigh n rule maddr tunnel") &&
		(len(words) == 1 || oneOf(words[1].text, "show list ls get help"))
	if !known {
		f.raise(permission.RiskPrivileged, system)
	}
}

func service(c *simple, f *finding) {
	last := c.words[len(c.words)-1]
	if last.unknown || !oneOf(last.text, "status --status-all --version --help service") {
		f.raise(permission.RiskPrivileged, system)
	}
}

func sysctl(c *simple, f *finding) {
	a := f.parse(c, "a,all n,values N,names e,ignore r,pattern= b,binary w,write p,load=< system", 0)
	for _, w := range a.operands {
		if strings.Contains(w.text, "=") || w.unknown {
			f.raise(permission.RiskPrivileged, system)
		}
	}
	if a.has("write", "load", "system") {
		f.raise(permission.RiskPrivileged, system)
	}
}

// killers are programs that signal processes. Behind a sandbox there are none but those of
// the same command.
var killers = set("kill pkill killall skill xkill")

func killsOwn(f *finding) {
	f.anyWords = true
	f.raise(permission.RiskWorkspace, "it ends processes of this command")
}

// kill signals processes by their ids.
func kill(c *simple, f *finding) {
	args := c.args()
	if len(args) > 0 && oneOf(args[0].text, "-l -L --list --table") {
		return
	}
	first := true
	for i := 0; i < len(args); i++ {
		w := args[i]
		switch {
		case first && (w.text == "-s" || w.text == "-n" || w.text == "--signal"):
			i++
		case first && w.text == "--":
			first = false
			continue
		case first && strings.HasPrefix(w.text, "-") && !w.unknown:
		case strings.HasPrefix(w.text, "%"): // a job of the shell itself
		case w.unknown || !isDigits(strings.TrimPrefix(w.text, "-")):
			f.raise(permission.RiskPrivileged, "which process "+w.text+" stands for cannot be known before it runs")
		default:
			f.raise(permission.RiskWorkspace, "it ends processes")
			f.effects = append(f.effects, permission.Effect{Kind: permission.Signal, Target: w.text})
		}
		first = false
	}
}

// air run by an agent: what opens doors is for people.
func air(c *simple, f *finding) {
	if len(c.words) == 1 {
		return
	}
	verb, what := c.words[1].text, ""
	if len(c.words) > 2 {
		what = c.words[2].text
	}
	switch {
	case oneOf(verb, "version ls inspect"), oneOf(verb+"-"+what, "tool-ls tool-show permission-explain permission-ls permission-test doctor-"):
	default:
		f.raise(permission.RiskPrivileged, "air's own commands are for the person")
	}
}
